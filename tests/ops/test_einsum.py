"""einsum: what the records do not say, and what it refuses."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.einsum import einsum

RNG = np.random.default_rng(5)


def same(equation, *shapes, **options):
    xs = [RNG.normal(size=shape) for shape in shapes]
    found, wanted = einsum(equation, *xs, **options).numpy(), np.einsum(equation, *xs)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        (" ij , jk -> ik ", [(2, 3), (3, 4)]),
        ("iii->i", [(3, 3, 3)]),
        ("iijj->ij", [(2, 2, 3, 3)]),
        ("iji,jk->ik", [(3, 2, 3), (2, 4)]),
        ("...ii->...i", [(4, 3, 3)]),
        ("...,...", [(2, 1, 3), (4, 3)]),
        ("i...,i...->...", [(3, 4), (3, 1)]),
        ("a...b,b...->...a", [(2, 4, 5, 3), (3, 1, 5)]),
        (",->", [(), ()]),
        ("i->", [(0,)]),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
        ("a,b,c->cba", [(2,), (3,), (4,)]),
        ("ij,ij,ij->ij", [(2, 3), (2, 3), (2, 3)]),
        ("...,...,...->...", [(1,), (3,), (1,)]),
        ("Aa,aA->", [(2, 3), (3, 2)]),
    ],
)
def test_against_numpy(equation, shapes):
    same(equation, *shapes)


@pytest.mark.parametrize("optimize", ["auto", "greedy", "OPTIMAL", "dp", True, False])
def test_every_order_gives_the_same(optimize):
    shapes = [(2, 3), (3, 4), (4, 5), (5, 2), (2,)]
    same("ab,bc,cd,de,e->a", *shapes, optimize=optimize)


def test_the_order_matters_for_memory():
    # Left to right the first product alone would have 10**12 elements.
    n = 1000
    x = np.ones(n)
    found = einsum("a,b,c,d,abcd->", *[x[:2]] * 4, np.ones((2,) * 4))
    assert float(found) == 16
    found = einsum("a,b,c,d,a,b,c,d->", *[x] * 8)
    assert float(found) == 1e12


def test_dtypes():
    assert einsum("i,i", np.ones(2, "float32"), np.ones(2)).dtype == "float64"
    assert einsum("i,i->i", np.ones(2, "float16"), [1, 2]).dtype == "float16"
    assert einsum("i,i", [1, 2], [3, 4]).dtype == "int32"
    assert einsum("ij->ji", [[1, 2]]).dtype == "int32"


def test_gradient_in_a_variable():
    v = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = einsum("i,i,i->", v, v, v)
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), [3.0, 12.0])


@pytest.mark.parametrize(
    ("equation", "shapes", "error", "text"),
    [
        (
            "ij,jk->ik",
            [(2, 3), (4, 5)],
            ShapeError,
            r"'ij,jk->ik': label 'j' has size 3 and size 4 in operands of shapes "
            r"\(2, 3\), \(4, 5\)",
        ),
        ("ij,jk->ik", [(2, 1), (3, 5)], ShapeError, "label 'j' has size 1 and size 3"),
        ("ii", [(2, 3)], ShapeError, "label 'i' has size 2 and size 3"),
        ("...,...", [(2,), (3,)], ShapeError, "an axis under '...' has size 2"),
        ("ij->ij", [(2,)], ShapeError, r"'ij' names 2 axes of an operand of shape"),
        ("i->i", [(2, 3)], ShapeError, r"'i' names 1 axes"),
        ("...ij->i", [(2,)], ShapeError, "names 2 axes"),
        ("ij,jk", [(2, 3)], ArgumentError, "names 2 operands, but 1 are given"),
        ("i", [(2,), (2,)], ArgumentError, "names 1 operands, but 2 are given"),
        ("i->j", [(2,)], ArgumentError, "'j' in the result is in no operand"),
        ("i->ii", [(2,)], ArgumentError, "'i' in the result is repeated"),
        ("i->......", [(2,)], ArgumentError, "'.' in '......' is not a label"),
        ("...i->i", [(2, 3)], ArgumentError, "the result lacks the 1 axes"),
        ("i1->i", [(2, 3)], ArgumentError, "'1' in 'i1' is not a label"),
        ("i->i->i", [(2,)], ArgumentError, "'-' in 'i->i' is not a label"),
        ("i.j", [(2, 3)], ArgumentError, "'.' in 'i.j' is not a label"),
    ],
)
def test_refusals(equation, shapes, error, text):
    with pytest.raises(error, match=text):
        einsum(equation, *[np.ones(shape) for shape in shapes])


def test_other_refusals():
    with pytest.raises(ArgumentTypeError, match="the equation must be a string"):
        einsum(np.ones(2), [0])
    with pytest.raises(ArgumentError, match="optimize 'best' is unknown"):
        einsum("i,i", [1.0], [1.0], optimize="best")
    with pytest.raises(DTypeError, match="einsum 'i,i': bool is not a number"):
        einsum("i,i", [True], [True])
    with pytest.raises(DTypeError, match="einsum 'i->': bool is not a number"):
        einsum("i->", [True])
    with pytest.raises(ArgumentError, match="names 1 operands, but 0 are given"):
        einsum("i")
