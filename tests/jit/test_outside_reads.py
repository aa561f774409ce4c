"""What code that is not converted reads of the world outside is never old."""

import collections
import copy
import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gtape as gt


class Point:
    """A class that says what operators do."""

    def __init__(self, v: float) -> None:
        self.v = v
        self.array = np.array([1.0, 2.0])

    def __mul__(self, other: Any) -> Any:
        return self.v * other

    def __add__(self, other: Any) -> Any:
        return self.v + other

    def __rsub__(self, other: Any) -> Any:
        return other - self.v

    def __getitem__(self, i: Any) -> Any:
        return self.v + i

    def __len__(self) -> int:
        return int(self.v)

    def __bool__(self) -> bool:
        return self.v > 2

    def __eq__(self, other: object) -> bool:
        return self.v == other

    def __float__(self) -> float:
        return float(self.v)

    def __enter__(self) -> float:
        return self.v

    def __exit__(self, *error: object) -> None:
        pass

    def __call__(self, x: Any) -> Any:
        return self.v * x

    def __contains__(self, x: object) -> bool:
        return operator.lt(x, self.v)

    def __neg__(self) -> float:
        return -self.v

    def __iter__(self) -> Any:
        return iter([self.v, self.v])

    __hash__ = object.__hash__


@dataclasses.dataclass
class Settings:
    w: float = 2.0


class World:
    """What the functions find outside; `change` changes all of it in place."""

    def __init__(self) -> None:
        self.array = np.array([1.0, 2.0, 3.0])
        self.point = Point(2.0)
        self.settings = Settings()
        self.queue = collections.deque([1.0, 2.0])
        self.counts = collections.defaultdict(float, {"a": 1.0})

    def change(self) -> None:
        self.array[0] += 5.0
        self.point.v += 1.0
        self.point.array[0] += 4.0
        self.settings.w += 1.0
        self.queue.append(4.0)
        self.counts["a"] += 1.0


def branch_by_an_item(w: World) -> Callable[[Any], Any]:
    a = w.array

    def f(x: Any) -> Any:
        return x * 2 if a[0] > 3 else x

    return f


def loop_over_an_array(w: World) -> Callable[[Any], Any]:
    a = w.array

    def f(x: Any) -> Any:
        for v in a:
            x = x * v
        return x

    return f


def entered(w: World) -> Callable[[Any], Any]:
    p = w.point

    def f(x: Any) -> Any:
        with p as v:
            return x * v

    return f


def unpacked(w: World) -> Callable[[Any], Any]:
    a = w.array

    def f(x: Any) -> Any:
        first, *_ = a
        return x * first

    return f


PROGRAMS: dict[str, Callable[[World], Callable[[Any], Any]]] = {
    "branch": branch_by_an_item,
    "loop": loop_over_an_array,
    "with": entered,
    "unpacked": unpacked,
    "x*A[0]": lambda w: (lambda a: lambda x: x * a[0])(w.array),
    "x*float(A[0])": lambda w: (lambda a: lambda x: x * float(a[0]))(w.array),
    "x*A.sum()": lambda w: (lambda a: lambda x: x * a.sum())(w.array),
    "x*np.sum(A)": lambda w: (lambda a: lambda x: x * np.sum(a))(w.array),
    "x*A[:2][0]": lambda w: (lambda a: lambda x: x * a[:2][0])(w.array),
    "x*sum(A)": lambda w: (lambda a: lambda x: x * sum(a))(w.array),
    "x*A.tolist()[0]": lambda w: (lambda a: lambda x: x * a.tolist()[0])(w.array),
    "x*len(A[A>3])": lambda w: (lambda a: lambda x: x * len(a[a > 3]))(w.array),
    "x*(A*2)[0]": lambda w: (lambda a: lambda x: x * (a * 2)[0])(w.array),
    "x*np.dot(A,A)": lambda w: (lambda a: lambda x: x * np.dot(a, a))(w.array),
    "x*A.T[0]": lambda w: (lambda a: lambda x: x * a.T[0])(w.array),
    "x*max(A)": lambda w: (lambda a: lambda x: x * max(a))(w.array),
    "x*A.max()": lambda w: (lambda a: lambda x: x * a.max())(w.array),
    "x*p.arr[0]": lambda w: (lambda p: lambda x: x * p.array[0])(w.point),
    "p*x": lambda w: (lambda p: lambda x: p * x)(w.point),
    "p+x": lambda w: (lambda p: lambda x: p + x)(w.point),
    "p[2]*x": lambda w: (lambda p: lambda x: p[2] * x)(w.point),
    "len(p)*x": lambda w: (lambda p: lambda x: len(p) * x)(w.point),
    "(3. if p else 1.)*x": lambda w: (lambda p: lambda x: (3.0 if p else 1.0) * x)(
        w.point
    ),
    "(3. if p==4 else 1.)*x": lambda w: (
        lambda p: lambda x: (3.0 if p == 4 else 1.0) * x
    )(w.point),
    "float(p)*x": lambda w: (lambda p: lambda x: float(p) * x)(w.point),
    "(-p)*x": lambda w: (lambda p: lambda x: (-p) * x)(w.point),
    "p(x)": lambda w: (lambda p: lambda x: p(x))(w.point),
    "(2. if 4 in p else 1.)*x": lambda w: (
        lambda p: lambda x: (2.0 if 4 in p else 1.0) * x
    )(w.point),
    "sum(p)*x": lambda w: (lambda p: lambda x: sum(p) * x)(w.point),
    "vars(p)['v']*x": lambda w: (lambda p: lambda x: vars(p)["v"] * x)(w.point),
    "p.__dict__['v']*x": lambda w: (lambda p: lambda x: p.__dict__["v"] * x)(w.point),
    "getattr(p,'v')*x": lambda w: (lambda p: lambda x: p.v * x)(w.point),
    "operator.attrgetter('v')(p)*x": lambda w: (
        lambda p: lambda x: operator.attrgetter("v")(p) * x
    )(w.point),
    "copy.copy(p).v*x": lambda w: (lambda p: lambda x: copy.copy(p).v * x)(w.point),
    "copy.deepcopy(p).v*x": lambda w: (lambda p: lambda x: copy.deepcopy(p).v * x)(
        w.point
    ),
    "dataclasses.asdict(d)['w']*x": lambda w: (
        lambda s: lambda x: dataclasses.asdict(s)["w"] * x
    )(w.settings),
    "dataclasses.replace(d).w*x": lambda w: (
        lambda s: lambda x: dataclasses.replace(s).w * x
    )(w.settings),
    "dq[-1]*x": lambda w: (lambda q: lambda x: q[-1] * x)(w.queue),
    "sum(dq)*x": lambda w: (lambda q: lambda x: sum(q) * x)(w.queue),
    "len(dq)*x": lambda w: (lambda q: lambda x: len(q) * x)(w.queue),
    "dd['a']*x": lambda w: (lambda d: lambda x: d["a"] * x)(w.counts),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_changes_are_seen(program: Callable[[World], Callable[[Any], Any]]) -> None:
    world = World()
    f = program(world)
    traced = gt.function(f)
    x = gt.constant(2.0, gt.float64)
    for _ in range(3):
        assert float(traced(x)) == float(f(x))
        world.change()
    count = traced.trace_count
    assert float(traced(x)) == float(f(x))
    traced(x)
    assert traced.trace_count <= count + 1  # nothing changes between the two


def test_arrays_that_are_operands_cost_no_trace() -> None:
    a = np.array([1.0, 2.0])
    f = gt.function(lambda x: x * a)
    x = gt.constant(2.0, gt.float64)
    for _ in range(3):
        assert f(x).numpy().tolist() == (2.0 * a).tolist()
        a[0] += 1.0
    assert f.trace_count == 1
