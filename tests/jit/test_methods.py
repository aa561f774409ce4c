"""Methods that are functions: each object has traces of its own, which die with it."""

import copy
import functools
import gc
import pickle
import sys
import weakref

import gtape as gt

ONE, TWO = gt.constant(1.0), gt.constant(2.0)


def plain(x):
    return x + 1.0


class Counter:
    def __init__(self, start):
        self.v = gt.Variable(start)

    @gt.function
    def step(self, x):
        self.v.assign_add(x)
        return self.v * 1.0

    @gt.function(input_signature=[gt.TensorSpec([None], gt.float32)])
    def total(self, x):
        return gt.reduce_sum(x) + self.v

    @staticmethod
    @gt.function
    def fixed(x):
        return x * 3.0

    @classmethod
    @gt.function
    def of_class(cls, x):
        return x * len(cls.__name__)

    @property
    @gt.function
    def doubled(self):
        return self.v * 2.0


def test_methods_have_traces_of_their_own_for_each_object():
    a, b = Counter(1.0), Counter(10.0)
    assert [float(a.step(ONE)), float(b.step(ONE))] == [2.0, 11.0]
    assert [float(a.step(ONE)), float(b.step(ONE))] == [3.0, 12.0]
    assert a.step.trace_count == b.step.trace_count == 1
    assert a.step is a.step
    assert float(Counter.step(a, ONE)) == 4.0


def test_methods_of_other_kinds():
    a = Counter(1.0)
    assert float(a.total([1.0, 2.0])) == 4.0
    assert float(a.total([1.0, 2.0, 3.0])) == 7.0
    assert a.total.trace_count == 1
    assert float(a.fixed(TWO)) == float(Counter.fixed(TWO)) == 6.0
    assert float(a.of_class(TWO)) == float(Counter.of_class(TWO)) == 14.0
    assert float(a.doubled) == 2.0


def test_a_copy_of_an_object_has_functions_of_its_own():
    a = Counter(1.0)
    a.step(ONE)
    deep, shallow = copy.deepcopy(a), copy.copy(a)
    assert float(deep.step(ONE)) == 3.0
    assert float(shallow.step(ONE)) == 3.0
    assert [float(a.v), float(deep.v), float(shallow.v)] == [3.0, 3.0, 3.0]
    again = pickle.loads(pickle.dumps(a))
    assert float(again.step(ONE)) == 4.0
    assert float(a.v) == 3.0


def test_objects_with_slots():
    class Slotted:
        __slots__ = ("k",)

        @gt.function
        def step(self, x):
            return x * self.k

    a, b = Slotted(), Slotted()
    a.k, b.k = 2.0, 3.0
    assert [float(a.step(ONE)), float(b.step(ONE)), float(a.step(TWO))] == [
        2.0,
        3.0,
        4.0,
    ]
    a.k = 5.0
    assert float(a.step(ONE)) == 5.0


def test_a_property_that_makes_new_objects_does_not_retrace():
    class Local:
        @property
        def parts(self):
            return [2.0, 3.0]

    m = Local()

    @gt.function
    def f(x):
        return x * m.parts[0] + sum(m.parts)

    for _ in range(4):
        assert float(f(ONE)) == 7.0
    assert f.trace_count == 1


def test_variables_of_a_module_that_gets_another_one():
    class Net(gt.Module):
        def __init__(self):
            self.w = gt.Variable(2.0)

    net = Net()

    @gt.function
    def f(x):
        total = x * 0.0
        for v in net.trainable_variables:
            total = total + v * x
        return total

    assert float(f(ONE)) == 2.0
    assert float(f(ONE)) == 2.0
    assert f.trace_count == 1
    net.b = gt.Variable(5.0)
    assert float(f(ONE)) == 7.0


def test_partials_and_wrappers():
    def scaled(k, x, power=1):
        return k * x**power

    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) + 1.0

        return wrapper

    f = gt.function(functools.partial(scaled, 3.0, power=2))
    assert float(f(TWO)) == 12.0
    g = gt.function(logged(plain))
    assert g.__name__ == "plain"
    assert float(g(ONE)) == 3.0
    h = logged(gt.function(plain))
    assert float(h(ONE)) == 3.0


# --- Memory ---------------------------------------------------------------------------


def over(v):
    return gt.function(lambda x: v * x)


def test_functions_and_what_they_capture_are_freed():
    class Model:
        def __init__(self):
            self.v = gt.Variable(1.0)

        @gt.function
        def step(self, x):
            with gt.GradientTape() as tape:
                y = self.v * x
            self.v.assign_sub(tape.gradient(y, self.v))
            return y

    model = Model()
    with gt.GradientTape() as tape:
        y = model.step(ONE)
    tape.gradient(y, model.v)
    f = over(model.v)
    f(ONE)
    gone = [weakref.ref(thing) for thing in (model, model.v, model.step, f)]
    del model, f, y, tape
    gc.collect()
    assert [ref() for ref in gone] == [None] * 4


def test_many_calls_do_not_grow():
    v = gt.Variable([1.0, 2.0])

    @gt.function
    def f(x, k):
        v.assign(v * 0.5 + x)
        return v * k

    def run(count):
        for i in range(count):
            with gt.GradientTape() as tape:
                y = f(x, float(i))
            tape.gradient(y, v)

    x = gt.constant([0.1, 0.2])
    run(200)
    gc.collect()
    before = sys.getallocatedblocks()
    run(10_000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 200
    assert f.trace_count == 1


def test_the_arrays_of_the_first_calls_are_freed():
    @gt.function
    def f(x):
        return gt.reduce_sum(x * x.shape[0])

    gone = []
    for n in (1000, 2000):
        x = gt.zeros([n])
        gone.append(weakref.ref(x._array))
        f(x)
    del x
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    assert float(f(gt.ones([3]))) == 9.0
    assert f.trace_count == 2
