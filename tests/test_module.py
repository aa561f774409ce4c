"""Module: which variables and modules it finds, in which order, and its name."""

import copy
import pickle

import numpy as np
import pytest

import gtape as gt


def variable(value=0.0, **options):
    return gt.Variable(value, **options)


class Layer(gt.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.w = variable(1.0)
        self.b = variable(2.0)
        self.mean = variable(3.0, trainable=False)

    def __call__(self, x):
        return x * self.w + self.b


class Block(gt.Module):
    """A module without super().__init__()."""

    def __init__(self):
        self.z = variable()
        self.inner = Layer()
        self.a = variable()


def same(found, expected):
    assert isinstance(found, tuple)
    assert [id(x) for x in found] == [id(x) for x in expected]


# ---- order ----------------------------------------------------------------------


def test_variables_in_the_order_of_attribute_names():
    m = Layer()
    same(m.variables, (m.b, m.mean, m.w))
    same(m.trainable_variables, (m.b, m.w))
    same(m.non_trainable_variables, (m.mean,))


def test_own_variables_first_then_those_of_modules():
    m = Block()
    same(m.trainable_variables, (m.a, m.z, m.inner.b, m.inner.w))
    same(m.submodules, (m.inner,))


def test_a_module_is_finished_before_the_next_begins():
    m = gt.Module()
    m.first, m.second = Block(), Layer()
    inner = m.first.inner
    same(
        m.trainable_variables,
        (m.first.a, m.first.z, inner.b, inner.w, m.second.b, m.second.w),
    )
    same(m.submodules, (m.first, m.second, inner))


def test_lists_tuples_and_dicts_are_searched():
    m = gt.Module()
    m.parts = [variable(), (variable(), {"k": variable(), "l": [Layer()]}), 5, None]
    one, (two, rest), *_ = m.parts
    [layer] = rest["l"]
    expected = (one, two, rest["k"], layer.b, layer.mean, layer.w)
    same(m.variables, expected)
    same(m.submodules, (layer,))


def test_what_is_shared_is_listed_once():
    m = gt.Module()
    m.a = m.b = variable()
    m.c = [m.a, m.a]
    m.d = m.e = Layer()
    same(m.variables, (m.a, m.d.b, m.d.mean, m.d.w))
    same(m.submodules, (m.d,))


def test_modules_may_hold_each_other():
    parent, child = gt.Module(), Layer()
    parent.child, child.parent = child, parent
    same(parent.variables, (child.b, child.mean, child.w))
    same(parent.submodules, (child,))
    same(child.submodules, (parent,))


def test_other_attributes_are_left_alone():
    m = gt.Module()
    m.text, m.array, m.tensor = "abc", np.ones(3), gt.constant(1.0)
    m.optimizer = gt.optim.Adam()
    m.function = lambda: None
    assert m.variables == m.submodules == ()


def test_attributes_that_come_and_go():
    m = Layer()
    m.a = variable()
    same(m.trainable_variables, (m.a, m.b, m.w))
    del m.b
    same(m.trainable_variables, (m.a, m.w))


def test_no_attributes():
    assert gt.Module().variables == gt.Module().submodules == ()


# ---- name -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("class_name", "expected"),
    [
        ("Layer", "layer"),
        ("LinearLayer", "linear_layer"),
        ("MLP", "mlp"),
        ("HTTPServer", "http_server"),
        ("Conv2D", "conv2_d"),
        ("Net2", "net2"),
        ("already_snake", "already_snake"),
        ("_Hidden", "_hidden"),
    ],
)
def test_default_name_is_the_class_in_snake_case(class_name, expected):
    assert type(class_name, (gt.Module,), {})().name == expected


def test_default_name_without_super_init():
    assert Block().name == "block"


def test_given_name():
    assert Layer("encoder").name == "encoder"


@pytest.mark.parametrize("name", ["my net", "1st", "", "a-b", 3])
def test_name_must_be_an_identifier(name):
    with pytest.raises(ValueError, match="not an identifier") as info:
        gt.Module(name=name)
    assert repr(name) in str(info.value)
    assert "Use letters, digits and _" in str(info.value)


# ---- use ------------------------------------------------------------------------


def test_gradients_by_all_trainable_variables():
    m = Layer()
    with gt.GradientTape() as tape:
        y = m(gt.constant(5.0))
    assert [float(g) for g in tape.gradient(y, m.trainable_variables)] == [1.0, 5.0]


def test_deep_copy_is_independent():
    m = Block()
    twin = copy.deepcopy(m)
    m.inner.w.assign(7.0)
    assert len(twin.variables) == len(m.variables)
    assert twin.inner.w.numpy() == 1.0
    assert not {id(v) for v in m.variables} & {id(v) for v in twin.variables}


def test_pickle():
    m = Layer("encoder")
    m.w.assign(7.0)
    twin = pickle.loads(pickle.dumps(m))
    assert twin.name == "encoder"
    assert twin.w.numpy() == 7.0
    assert not twin.mean.trainable


def test_name_scopes_nest_and_end():
    with gt.name_scope("outer"):
        a = gt.Variable(0.0, name="scoped")
        with gt.name_scope("inner") as whole:
            b = gt.Variable(0.0, name="scoped")
    c = gt.Variable(0.0, name="scoped")
    assert whole == "outer/inner/"
    assert (a.name, b.name) == ("outer/scoped:0", "outer/inner/scoped:0")
    assert c.name == "scoped:0"


@pytest.mark.parametrize("bad", [3, None, ""])
def test_name_scope_wants_a_name(bad):
    with pytest.raises(gt.errors.ArgumentTypeError, match="name_scope"):
        gt.name_scope(bad).__enter__()


def test_module_name_scope():
    class Layer(gt.Module):
        @gt.Module.with_name_scope
        def build(self, size):
            self.w = gt.Variable(gt.zeros([size]), name="w")
            return self.w.name

    layer = Layer(name="first")
    assert layer.build(3) == "first/w:0"
    with layer.name_scope:
        assert gt.Variable(0.0, name="v").name == "first/v:0"
