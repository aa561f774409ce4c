"""Indexing and item assignment against NumPy, on generated indices of every kind."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import gtape as gt
from gtape.errors import GtapeError
from gtape.ops.indexing import getitem, with_item

# --- A generator of shapes and indices ------------------------------------------------


def integers(size):
    plain = st.integers(-size, size - 1)
    return st.one_of(
        plain,
        plain.map(np.int64),
        plain.map(np.array),
        plain.map(lambda i: gt.constant(i)),
    )


def slices(size):
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.sampled_from([None, 1, 2, 3, -1, -2, -3])
    return st.builds(slice, bound, bound, step)


@st.composite
def arrays(draw, size, block):
    """Integer indices of a shape that broadcasts to a block, in one of its forms."""
    shape = [draw(st.sampled_from([1, n])) for n in block][draw(st.integers(0, 1)) :]
    count = math.prod(shape)
    values = draw(
        st.lists(st.integers(-size, size - 1), min_size=count, max_size=count)
    )
    array = np.array(values, np.int64).reshape(shape)
    forms = [array, array.astype(np.int8), gt.constant(array), np.asfortranarray(array)]
    return draw(st.sampled_from([*forms, array.tolist()] if array.size else forms))


@st.composite
def masks(draw, sizes):
    count = math.prod(sizes)
    values = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    mask = np.array(values, np.bool_).reshape(sizes)
    return draw(st.sampled_from([mask, gt.constant(mask)]))


@st.composite
def cases(draw):
    """A shape, and an index of a tensor of that shape, right or nearly right."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    if draw(st.integers(0, 9)) == 0 and shape:
        shape = (*shape[:-1], 0)
    block = tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=2)))
    rest, key, axis = len(shape), [], 0
    dots = draw(st.none() | st.integers(0, rest))  # how many axes `...` stands for
    place = draw(st.integers(0, rest))
    while axis < len(shape):
        if dots is not None and axis >= place and Ellipsis not in map(_kind, key):
            key.append(...)
            axis += min(dots, len(shape) - axis)
            continue
        size = shape[axis]
        kind = draw(st.sampled_from("isssaamn" if size else "smn"))
        if kind == "n":
            key.append(None)
        elif kind == "i":
            key.append(draw(integers(size)))
        elif kind == "s":
            key.append(draw(slices(size)))
        elif kind == "a":
            key.append(draw(arrays(size, block)))
        else:
            rank = draw(st.integers(1, min(2, len(shape) - axis)))
            key.append(draw(masks(shape[axis : axis + rank])))
            axis += rank - 1
        axis += kind != "n"
        if draw(st.integers(0, 5)) == 0 and dots is None:
            break
    alone = len(key) == 1 and draw(st.booleans())
    return shape, key[0] if alone else tuple(key)


def _kind(entry):
    return entry if entry is Ellipsis else None


def as_numpy(key):
    if isinstance(key, tuple):
        return tuple(as_numpy(entry) for entry in key)
    return key.numpy() if isinstance(key, gt.Tensor) else key


def selected(shape, key):
    """The positions that an index selects, as NumPy says; nothing if it refuses."""
    try:
        return np.arange(math.prod(shape)).reshape(shape)[as_numpy(key)]
    except (IndexError, ValueError):
        assume(False)
        raise


# --- Values and gradients -------------------------------------------------------------


def values(shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def both_orders(f, sources, weights):
    """Return f, its gradients, and those of their products with the weights."""
    with gt.GradientTape() as outer:
        outer.watch(sources)
        with gt.GradientTape() as inner:
            inner.watch(sources)
            y = f(*sources)
            total = gt.reduce_sum(y * y * y * weights(y))
        first = inner.gradient(total, sources, unconnected_gradients="zero")
        mixed = [
            gt.reduce_sum(g * values(s.shape, 7))
            for g, s in zip(first, sources, strict=True)
        ]
    second = outer.gradient(mixed, sources, unconnected_gradients="zero")
    return y.numpy(), [g.numpy() for g in first], [g.numpy() for g in second]


def added(places, amounts, shape):
    out = np.zeros(math.prod(shape))
    np.add.at(out, places.ravel(), amounts.ravel())
    return out.reshape(shape)


@example(((2, 3, 4, 5), (slice(None), [0, 1], ..., [2, 0], [1, 1])))
@example(((2, 3, 4), (0, None, [2, 1])))
@example(((2, 3, 4), (slice(None), 1, [2, 1])))
@example(((2, 3), (np.array(1), slice(None, None, -1))))
@given(cases())
def test_reading(case):
    shape, key = case
    places = selected(shape, key)
    x = values(shape)
    y, [first], [second] = both_orders(
        lambda t: getitem(t, key), [gt.constant(x)], lambda y: values(y.shape, 3)
    )
    picked, weights = x.ravel()[places], values(places.shape, 3)
    assert y.shape == places.shape
    np.testing.assert_array_equal(y, picked)
    np.testing.assert_allclose(first, added(places, 3 * picked**2 * weights, shape))
    curved = added(places, 6 * picked * weights, shape) * values(shape, 7)
    np.testing.assert_allclose(second, curved)


@example(((2, 3, 4, 5), (slice(None), [0, 1], ..., [2, 0], [1, 1])), 1)
@example(((3,), [1, 1, 0, 1]), 0)
@given(cases(), st.integers(0, 3))
def test_writing(case, spread):
    shape, key = case
    places = selected(shape, key)
    # A value of the selection's shape, or one that is repeated along some of its axes.
    target = tuple(1 if spread >> i & 1 else n for i, n in enumerate(places.shape))
    target = target[1:] if spread == 3 else target
    x, value = values(shape), values(target, 5)
    wanted = np.array(x)
    wanted[as_numpy(key)] = value
    y, first, second = both_orders(
        lambda t, u: with_item(t, key, u),
        [gt.constant(x), gt.constant(value)],
        lambda y: values(y.shape, 3),
    )
    np.testing.assert_array_equal(y, wanted)
    # Where each element of the result is from, as NumPy assigns.
    source = np.arange(x.size).reshape(shape)
    source[as_numpy(key)] = x.size + np.arange(value.size).reshape(target)
    weights = values(shape, 3)
    slope = added(source, 3 * wanted**2 * weights, (x.size + value.size,))
    curve = added(source, 6 * wanted * weights, (x.size + value.size,))
    for k, (part, given_shape) in enumerate(
        ((slice(0, x.size), shape), (slice(x.size, None), target))
    ):
        np.testing.assert_allclose(first[k], slope[part].reshape(given_shape))
        expected = curve[part].reshape(given_shape) * values(given_shape, 7)
        np.testing.assert_allclose(second[k], expected)


@given(cases(), st.integers(-9, 9))
def test_what_numpy_refuses_is_refused(case, other):
    shape, key = case
    assume(0 not in shape)  # NumPy takes empty masks of any size
    key = (*key, other) if isinstance(key, tuple) else (key, other)
    x = values(shape)
    try:
        wanted = x[as_numpy(key)]
    except (IndexError, ValueError):
        with pytest.raises(GtapeError):
            getitem(gt.constant(x), key)
    else:
        np.testing.assert_array_equal(getitem(gt.constant(x), key).numpy(), wanted)


# --- Single cases ---------------------------------------------------------------------


def test_repeated_places_of_masks_and_lists_keep_their_order():
    t = gt.Variable(np.zeros(3))
    u = gt.Variable([1.0, 2.0, 3.0], dtype=gt.float64)
    with gt.GradientTape() as tape:
        y = with_item(t, [1, 1, 0], u)
    assert y.numpy().tolist() == [3.0, 2.0, 0.0]
    assert tape.gradient(y, u).numpy().tolist() == [0.0, 1.0, 1.0]


def test_many_repeated_indices_in_half_precision_add_up_exactly():
    v = gt.Variable(np.zeros(2, np.float16))
    with gt.GradientTape() as tape:
        y = v[[0] * 4096]
    assert tape.gradient(y, v).numpy().tolist() == [4096.0, 0.0]


def test_whole_selection_is_another_tensor():
    t = gt.constant([1.0, 2.0])
    for same in (t[:], t[...], t[()]):
        assert same is not t
        assert same.numpy().tolist() == [1.0, 2.0]


def test_views_do_not_change_with_the_name_they_came_from():
    t = gt.constant([[1.0, 2.0], [3.0, 4.0]])
    row, mask = t[0], t[[0]]
    t[0] = [9.0, 9.0]
    assert row.numpy().tolist() == [1.0, 2.0]
    assert mask.numpy().tolist() == [[1.0, 2.0]]


def test_element_is_a_scalar():
    assert gt.constant([1.0, 2.0])[1].shape == ()
    assert gt.constant([[1.0]])[..., 0, 0].shape == ()


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (0, 5, [5.0, 2.0, 3.0]),
        (0, np.float64(5.0), [5.0, 2.0, 3.0]),
        (slice(1, None), [8, 9], [1.0, 8.0, 9.0]),
        (slice(1, None), np.array([8.0, 9.0]), [1.0, 8.0, 9.0]),
        ([2, 0], gt.constant(7), [7.0, 2.0, 7.0]),
        ([True, False, True], 0, [0.0, 2.0, 0.0]),
        ([], 1.0, [1.0, 2.0, 3.0]),
    ],
)
def test_values_adapt_to_the_tensor(key, value, expected):
    t = gt.constant([1.0, 2.0, 3.0])
    t[key] = value
    assert t.dtype == gt.float32
    assert t.numpy().tolist() == expected


@pytest.mark.parametrize("key", [0, [0], slice(0, 1)])
@pytest.mark.parametrize("value", [1.5, np.array(1.5), gt.constant(1.5)])
def test_floats_do_not_fit_integers(key, value):
    t = gt.constant([1, 2])
    with pytest.raises(TypeError, match=r"int32"):
        t[key] = value
    assert t.numpy().tolist() == [1, 2]


@pytest.mark.parametrize("key", [0, [0], slice(0, 1)])
def test_a_wider_tensor_does_not_fit(key):
    t = gt.constant([1.0, 2.0])
    with pytest.raises(TypeError, match=r"float64.*float32"):
        t[key] = gt.constant(1.0, dtype=gt.float64)


def test_assigned_item_of_a_variable_cuts_the_link():
    v, w = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
    with gt.GradientTape() as tape:
        v[0] = w * 2.0
        y = gt.reduce_sum(v * v)
    assert tape.gradient(y, [v, w])[0].numpy().tolist() == [12.0, 4.0]


@pytest.mark.parametrize(
    ("key", "match"),
    [
        (3, r"index 3 .*axis 0 of size 2.*-2 to 1"),
        ((0, -4), r"index -4 .*axis 1 of size 3"),
        ((slice(None), None, 5), r"index 5 .*axis 1 of size 3"),
        ((0, [1, 7]), r"index 7 .*axis 1 of size 3"),
        (([0], 9), r"index 9 .*axis 1 of size 3"),
        ((None, [0, -3]), r"index -3 .*axis 0 of size 2"),
        (np.uint64(2**63), r"axis 0 of size 2"),
        ([np.uint64(2**63)], r"axis 0 of size 2"),
        (10**30, r"axis 0 of size 2"),
        ((0, 0, 0), r"3 indices .*rank 2"),
        (([0], 0, 0), r"3 indices .*rank 2"),
        ((..., 0, ...), r"more than one ellipsis"),
        ([True, False, True], r"mask of size 3 for axis 0 of size 2"),
        (slice(None, None, 0), r"step is zero"),
        ((..., slice(None, None, 0)), r"step is zero"),
    ],
)
def test_out_of_range(key, match):
    t = gt.constant(np.zeros((2, 3)))
    with pytest.raises(IndexError, match=match):
        t[key]
    with pytest.raises(IndexError, match=match):
        t[key] = 1.0
    with pytest.raises(IndexError, match=match):
        gt.Variable(t)[key]


@pytest.mark.parametrize(
    "key",
    [
        1.0,
        "a",
        b"a",
        1j,
        True,
        np.True_,
        slice(1.5, None),
        slice("a"),
        [0.5],
        np.array([1.0]),
        gt.constant(1.0),
        {"a": 1},
        pytest.param(object(), id="object"),
        ([0], 1.5),
    ],
    ids=repr,
)
def test_what_is_no_index(key):
    with pytest.raises(TypeError, match=r"index|cannot become a tensor"):
        gt.constant([[1.0, 2.0]])[key]


def test_index_arrays_that_do_not_broadcast():
    t = gt.constant(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        t[[0, 1], [0, 1, 2]]
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        t[[0, 1], [0, 1, 2]] = 1.0


@pytest.mark.parametrize("key", [0, [0, 0], (..., slice(0, 2))])
@pytest.mark.parametrize("shape", [(4,), (1, 1, 1, 3)])
def test_values_that_do_not_broadcast(key, shape):
    t = gt.constant(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"assign: .*broadcast"):
        t[key] = np.zeros(shape)


def test_a_mask_of_another_rank():
    with pytest.raises(IndexError, match=r"rank 1"):
        gt.constant([1.0, 2.0])[np.ones((2, 1), bool)]
