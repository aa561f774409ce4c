"""Programs made of functions: closures, methods, lambdas, comprehensions, with, try."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import gtape as gt
from tests.jit.corpus import Cases, Corpus, counted, matrices, rows

FUNCTIONS = Corpus("functions")

CASE = Cases((0.7,), (-0.4,), (1.6,))
PAIR = Cases((0.7, 1.2), (-0.4, 0.3), (1.3, -0.8), (-1.1, -0.5))
ONE = counted((0.7,), (0.9,), (-0.4,))
TWO = counted((0.7, 1.2), (-0.4, 0.3), (0.8, -0.8))

SCALE = 1.25


# --- What the programs call -----------------------------------------------------------


def relu_like(x: Any, slope: Any = 0.1) -> Any:
    if x > 0.0:
        return x
    return slope * x


def iterate(step: Callable[[Any], Any], x: Any, n: Any) -> Any:
    for _ in range(n):
        x = step(x)
    return x


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return 2.0 * function(*args, **kwargs)

    return wrapper


@doubled
def decorated_step(x: Any, *, shift: float = 0.1) -> Any:
    if x > 0.3:
        return gt.sin(x) + shift
    return gt.cos(x) - shift


def fold(function: Callable[..., Any], *values: Any, start: Any = 0.5) -> Any:
    for v in values:
        start = function(start, v)
    return start


class Line:
    """A line with a kink, in every kind of method."""

    bend = 0.4

    def __init__(self, slope: Any, offset: Any) -> None:
        self.slope = slope
        self.offset = offset

    def __call__(self, x: Any) -> Any:
        y = self.slope * x + self.offset
        if y > self.bend:
            return gt.tanh(y)
        return y

    @property
    def root(self) -> Any:
        return -self.offset / self.slope

    @staticmethod
    def bump(x: Any) -> Any:
        return gt.exp(-x * x) if x > 0.0 else 1.0 / (1.0 + x * x)

    @classmethod
    def through(cls, x: Any, y: Any) -> Line:
        return cls(y - x, x)

    def __add__(self, other: Any) -> Line:
        return Line(self.slope + other.slope, self.offset + other.offset)

    def __getitem__(self, i: int) -> Any:
        return self.slope if i == 0 else self.offset


class Steeper(Line):
    def __call__(self, x: Any) -> Any:
        y = super().__call__(x)
        return y * y if y > 0.0 else y


@contextlib.contextmanager
def shifted(stack: list[Any], x: Any) -> Iterator[Any]:
    stack.append(x)
    yield x + 0.5
    stack.pop()


# --- Functions in functions -----------------------------------------------------------


@FUNCTIONS.add(ONE)
def call_of_a_function_with_a_branch(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        y = relu_like(gt.sin(y) - 0.2 * i) + 0.3
    return y * y


@FUNCTIONS.add(CASE)
def default_and_keyword_arguments(x: Any) -> Any:
    a = relu_like(x)
    b = relu_like(x - 1.0, slope=0.3)
    return gt.sin(a) * relu_like(slope=x, x=b) + a * a


@FUNCTIONS.add(ONE)
def nested_function(n: int, x: Any) -> Any:
    def step(y: Any, i: Any) -> Any:
        if y > 0.4:
            return gt.sin(y) * x
        return y + 0.1 * i + x * x

    y = x
    for i in range(n):
        y = step(y, i)
    return y * gt.cos(y)


@FUNCTIONS.add(ONE)
def closure_over_a_changing_name(n: int, x: Any) -> Any:
    scale = x

    def scaled(y: Any) -> Any:
        return gt.sin(scale * y)

    y = 0.7
    for _ in range(n):
        y = scaled(y)
        scale = scale + 0.1 * y
    return y * scale


@FUNCTIONS.add(ONE)
def nonlocal_accumulator(n: int, x: Any) -> Any:
    total = x

    def add(y: Any) -> None:
        nonlocal total
        total = 0.8 * total + gt.sin(y + total)

    for i in range(n):
        add(0.3 * i)
    return total * total


@FUNCTIONS.add(CASE)
def nonlocal_in_a_branch(x: Any) -> Any:
    y = x

    def change() -> None:
        nonlocal y
        if x > 0.0:
            y = y * 2.0
        else:
            y = gt.sin(y)

    change()
    return y * y + y


@FUNCTIONS.add(ONE)
def nonlocal_in_a_loop(n: int, x: Any) -> Any:
    y = x
    calls = 0

    def run() -> Any:
        nonlocal y, calls
        while calls < n:
            calls += 1
            y = gt.cos(y) + 0.1
            if y > 0.9:
                continue
            y = y * x
        return y

    z = run()
    return z * y * (1 + calls)


@FUNCTIONS.add(ONE)
def nested_recursion_of_closures(n: int, x: Any) -> Any:
    def polynomial(depth: int, y: Any) -> Any:
        # The depth is a plain number: the recursion ends while the program is read.
        if depth == 0:
            return y
        if y > 0.5:
            return polynomial(depth - 1, 0.7 * y * y)
        return polynomial(depth - 1, 0.8 * y + 0.3)

    y = x
    for _ in range(n):
        y = gt.sin(polynomial(3, y))
    return y * y


@FUNCTIONS.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7))
def recursion_over_a_length(xs: Any, y: Any) -> Any:
    def total(part: Any) -> Any:
        size = part.shape[0]
        if size == 1:
            return gt.sin(part[0] * y)
        half = size // 2
        return total(part[:half]) + total(part[half:]) * y

    z = total(xs)
    return z * z


@FUNCTIONS.add(ONE)
def function_passed_to_a_function(n: int, x: Any) -> Any:
    def step(y: Any) -> Any:
        return gt.sin(y) if y > 0.2 else y * y + 0.3

    return iterate(step, x, n) ** 2


@FUNCTIONS.add(ONE)
def lambda_with_a_condition(n: int, x: Any) -> Any:
    step = lambda y: gt.sin(y) * x if y > 0.2 else y + x * x + 0.1  # noqa: E731
    y = x
    for _ in range(n):
        y = step(y)
    return y * y


@FUNCTIONS.add(CASE)
def two_lambdas_on_one_line(x: Any) -> Any:
    f, g = (lambda y: y * y if y > 0.0 else -y), (lambda y: gt.sin(y) + x)
    return f(g(x)) * g(f(x))


@FUNCTIONS.add(CASE)
def functions_made_in_a_loop(x: Any) -> Any:
    steps = []
    for k in (0.5, 1.0, 1.5):
        steps.append(lambda y, k=k: gt.sin(k * y) if y > 0.0 else y * y * k)
    y = x
    for step in steps:
        y = step(y) + 0.1
    return y * y


@FUNCTIONS.add(PAIR)
def function_that_returns_a_function(x: Any, y: Any) -> Any:
    def line(slope: Any) -> Callable[[Any], Any]:
        if slope > 0.0:
            factor = slope
        else:
            factor = slope * slope

        def at(z: Any) -> Any:
            return gt.tanh(factor * z)

        return at

    return line(x)(y) * line(y)(x) + line(x * y)(x)


@FUNCTIONS.add(CASE)
def partial_functions(x: Any) -> Any:
    steep = functools.partial(relu_like, slope=0.7)
    fixed = functools.partial(relu_like, x)
    return gt.sin(steep(x)) * fixed(0.3) + steep(x - 1.0) ** 2


@FUNCTIONS.add(ONE)
def decorated_function(n: int, x: Any) -> Any:
    y = x
    for _ in range(n):
        y = 0.4 * decorated_step(y, shift=0.2)
    return y * decorated_step(y)


@FUNCTIONS.add(PAIR)
def any_number_of_arguments(x: Any, y: Any) -> Any:
    z = fold(lambda a, b: gt.sin(a) * b if b > 0.0 else a - b, x, y, x * y, start=x)
    parts = [x, z]
    named = {"start": y}
    return fold(lambda a, b: a * b + 0.1, *parts, **named) ** 2


@FUNCTIONS.add(PAIR)
def several_results(x: Any, y: Any) -> Any:
    def polar(a: Any, b: Any) -> tuple[Any, Any]:
        r = gt.sqrt(a * a + b * b)
        if a > 0.0:
            return r, gt.atan(b / a)
        return r, gt.atan(b / a) + 3.0

    radius, angle = polar(x, y)
    return radius * gt.sin(angle) + angle * angle


@FUNCTIONS.add(CASE)
def global_number(x: Any) -> Any:
    y = x * SCALE
    while y < 2.1:
        y = y * SCALE + SCALE
    return gt.sin(y)


# --- Objects --------------------------------------------------------------------------


@FUNCTIONS.add(counted((0.7, 0.2), (0.4, -0.3)))
def object_with_call(n: int, a: Any, b: Any) -> Any:
    line = Line(a, b)
    y = a
    for _ in range(n):
        y = line(y) + 0.1
    return y * y


@FUNCTIONS.add(Cases((0.7, 0.2), (0.4, -0.3), (-1.2, 0.8)))
def properties_and_methods(a: Any, b: Any) -> Any:
    line = Line.through(a, b)
    return Line.bump(line.root) * line(a) + line.bump(b) ** 2


@FUNCTIONS.add(Cases((0.7, 0.9), (0.4, -0.3), (-1.2, 0.8)))
def inherited_method(a: Any, b: Any) -> Any:
    line = Steeper(a, b)
    return line(1.0) * gt.sin(line(-1.0)) + line(a) * b


@FUNCTIONS.add(Cases((0.7, 0.2), (0.4, -0.3), (-1.2, 0.8)))
def operators_of_an_object(a: Any, b: Any) -> Any:
    line = Line(a, b) + Line(b, a * a)
    method = line.__call__
    return method(a) * line[0] + gt.sin(line[1])


@FUNCTIONS.add(Cases((0.7, 0.2), (0.4, -0.3), (-1.2, 0.8)))
def class_inside_the_program(a: Any, b: Any) -> Any:
    class Pair:
        def __init__(self, x: Any) -> None:
            self.x = x

    pair = Pair(a)
    if b > 0.0:
        pair.x = pair.x * b
    return gt.sin(pair.x) * a


# --- Comprehensions and builtins ------------------------------------------------------


@FUNCTIONS.add(rows((0.7,), (-0.4,)))
def sum_of_a_generator(xs: Any, y: Any) -> Any:
    total = sum(gt.sin(x * y) for x in xs)
    return gt.exp(0.1 * total * y) + y


@FUNCTIONS.add(rows((0.7,), (-0.4,)))
def sum_of_a_generator_with_a_condition(xs: Any, y: Any) -> Any:
    total = sum((x * x * y for x in xs if x > 0.0), start=y)
    return total * total


@FUNCTIONS.add(rows((0.7,), (-0.4,)))
def sum_of_a_tensor(xs: Any, y: Any) -> Any:
    return gt.sin(sum(xs * xs) * 0.2 + y) * y


@FUNCTIONS.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def min_and_max_of_a_tensor(xs: Any, y: Any) -> Any:
    return gt.sin(min(xs) * y) + max(xs) ** 2 * y


@FUNCTIONS.add(PAIR)
def min_and_max_of_two(x: Any, y: Any) -> Any:
    return min(x, y) * gt.sin(max(x, y * 2.0, 0.25 + 0.0 * x)) + abs(x) * y


@FUNCTIONS.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def max_of_a_generator(xs: Any, y: Any) -> Any:
    best = max(gt.sin(3.0 * x) for x in xs)
    return best * best * y + y


@FUNCTIONS.add(rows((0.7,), (-0.4,)))
def any_and_all_of_a_generator(xs: Any, y: Any) -> Any:
    z = y
    if any(x > 0.9 for x in xs):
        z = gt.sin(z)
    if all(x > -0.5 for x in xs):
        z = z * y + 1.0
    return z * z + gt.reduce_sum(xs * xs * y)


@FUNCTIONS.add(counted((0.7, 1.2), (-0.4, 0.3)), trips=(0, 1, 2))
def list_comprehension(n: int, x: Any, y: Any) -> Any:
    parts = [gt.sin(v + n) for v in (x, y, x * y)]
    return parts[0] * parts[1] + parts[2] ** 2


@FUNCTIONS.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def list_comprehension_over_a_tensor(xs: Any, y: Any) -> Any:
    parts = [gt.sin(x) * y if x > 0.0 else x * x for x in xs]
    stacked = gt.stack(parts)
    return gt.reduce_sum(stacked * stacked) + parts[0] * y


@FUNCTIONS.add(Cases((0.7, 1.2), (-0.4, 0.3)))
def nested_comprehension(x: Any, y: Any) -> Any:
    table = [[a * b + i for i, b in enumerate((x, y))] for a in (y, x * x)]
    return sum(gt.sin(v) for line in table for v in line) ** 2


@FUNCTIONS.add(Cases((0.7, 1.2), (-0.4, 0.3)))
def dict_and_set_comprehension(x: Any, y: Any) -> Any:
    parts = {name: v * v for name, v in zip("ab", (x, y), strict=True)}
    sizes = {len(name) for name in parts}
    return gt.sin(parts["a"]) * parts["b"] * max(sizes) + x


@FUNCTIONS.add(Cases((0.7, 1.2), (-0.4, 0.3)))
def walrus_in_a_comprehension(x: Any, y: Any) -> Any:
    parts = [(z := gt.sin(v)) * z for v in (x, y)]
    return parts[0] * z + parts[1]


@FUNCTIONS.add(matrices(2, (0.7,), (-0.4,)))
def generator_with_two_targets(matrix: Any, y: Any) -> Any:
    total = sum((a * gt.sin(b * y) for a, b in matrix), start=y)
    return total * total


@FUNCTIONS.add(Cases((0.7, 1.2), (-0.4, 0.3)))
def sorted_with_python_keys(x: Any, y: Any) -> Any:
    parts = sorted([("b", x), ("a", y), ("c", x * y)], key=lambda part: part[0])
    z = 0.1
    for i, (_, v) in enumerate(parts):
        z = gt.sin(z + v) * (1 + i)
    return z * z


# --- Assignments of every kind --------------------------------------------------------


@FUNCTIONS.add(Cases(([0.7, 1.2, -0.3],), ([-0.4, 0.3, 0.6],)))
def unpacking_a_tensor(v: Any) -> Any:
    a, b, c = v
    (d, e), f = (b, c), a
    return gt.sin(a * b) + d * e * f


@FUNCTIONS.add(Cases(([0.7, 1.2, -0.3, 0.2],), ([-0.4, 0.3, 0.6, 0.9],)))
def starred_assignment(v: Any) -> Any:
    first, *middle, last = v
    total = last
    for m in middle:
        total = total * m + first
    return gt.sin(total) * first


@FUNCTIONS.add(PAIR)
def chained_and_augmented_assignment(x: Any, y: Any) -> Any:
    a = b = x * y
    a += x
    b *= a
    a -= y
    b /= 2.0 + y * y
    b **= 2
    if a > 0.5:
        a %= 0.75
    return a * gt.sin(b)


@FUNCTIONS.add(PAIR)
def annotated_assignment_and_del(x: Any, y: Any) -> Any:
    a: Any = x * y
    b: Any = gt.sin(a)
    if a > 0.0:
        c = a * b
        b = b + c
        del c
    del a
    return b * b


# --- with, try ------------------------------------------------------------------------


@FUNCTIONS.add(ONE)
def with_around_a_loop(n: int, x: Any) -> Any:
    with contextlib.nullcontext(x * 2.0) as y:
        for _ in range(n):
            y = gt.sin(y) + 0.2
            if y > 1.15:
                break
        z = y * x
    return z * y


@FUNCTIONS.add(CASE)
def with_and_return(x: Any) -> Any:
    stack: list[Any] = []
    with shifted(stack, x) as y:
        if y > 0.5:
            return gt.sin(y) * len(stack) * x
        z = y * y
    return z * x


@FUNCTIONS.add(ONE)
def try_finally_in_a_loop(n: int, x: Any) -> Any:
    y = x
    count = 0.0
    for i in range(n):
        try:
            if i % 3 == 1:
                continue
            y = gt.sin(y + 0.1 * i)
        finally:
            count = count + 0.25
    return y * y + count * x


@FUNCTIONS.add(CASE)
def try_except_else(x: Any) -> Any:
    parts = {"a": x}
    try:
        y = parts["b"]
    except KeyError:
        y = gt.sin(x) if x > 0.0 else x * x
    else:
        raise AssertionError
    return y * y


@FUNCTIONS.add(PAIR)
def loop_in_a_try(x: Any, y: Any) -> Any:
    z = x
    try:
        while z < 1.95:
            z = z + 0.5 + y * y
    finally:
        z = z * y
    return gt.sin(z)
