# ruff: noqa: B008, C417, E731, F841
"""Functions inside functions, their arguments, decorators; classes and methods."""

import functools

from tests.jit.syntax.corpus import on, say

INTS = ((-2,), (0,), (1,), (2,), (3,), (7,))


@on(*INTS, (1, 2), (1, 2, 3), (1, 2, 3, 4))
def parameters(a, b=2, /, c=3, *rest):
    if a > 1:
        b = c
    return a, b, c, rest


@on(*INTS)
def inner_parameters(x):
    def f(a, /, b, *args, c, d=4, **kwargs):
        if a:
            return a, b, args, c, d, kwargs
        return kwargs

    return f(x, 2, 3, 4, c=5, e=6)


@on(*INTS)
def inner_defaults(x):
    def f(a=say(x), *, b=say(x + 1 if x > 0 else 0)):
        return a, b

    x = 100
    return f(), f(1), f(b=2)


@on(*INTS)
def lambda_defaults(x):
    f = lambda a=say("default"), *b, c=x and (y := x): (a, b, c)
    return f(), f(1, 2, c=3)


@on(*INTS)
def inner_jumps(x):
    def find(items, wanted):
        for i, item in enumerate(items):
            if item == wanted:
                return i
        return None

    return find([3, 2, 1], x)


@on(*INTS)
def inner_recursion(x):
    def down(n):
        if n <= 0:
            return []
        return [n, *down(n - 1)]

    return down(x)


@on(*INTS)
def mutual_recursion(x):
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return even(abs(x))


@on(*INTS)
def decorators(x):
    def twice(function):
        say("twice")

        @functools.wraps(function)
        def wrapped(*args):
            return function(function(*args))

        return wrapped

    def plus(n):
        say("plus", n)
        return lambda function: lambda *args: function(*args) + n

    @plus(say(1) if x else say(2))
    @twice
    def f(y):
        if y > 2:
            return y * 2
        return y + 1

    return f(x)


@on(*INTS)
def docstring_and_annotations(x):
    """Say something."""

    def f(a: "int", b: float = 1.0) -> "str":
        """Inner text."""
        if a:
            b = 2.0
        return b

    return f.__doc__, f.__annotations__, f(x)


@on(*INTS)
def only_a_docstring(x):
    """Nothing else."""


@on(*INTS)
def lambdas_in_lambdas(x):
    add = lambda a: lambda b: a + b if a > b else a - b
    return add(x)(2)


@on(*INTS)
def functions_as_arguments(x):
    return sorted(range(5), key=lambda i: -i if i > x else i), list(
        map(lambda i: i and x, [0, 1])
    )


class Base:
    __secret = 5

    def __init__(self, x):
        self.__x = x
        self.log = []

    @property
    def size(self):
        if self.__x > 2:
            return "big"
        return "small"

    def value(self, y):
        return self.__x + y

    def __hidden(self, __y):
        for __i in range(2):
            if __i == 1 and __y:
                self.__total = __i
        return self.__secret, self.__total

    @staticmethod
    def fixed(y):
        return y if y > 0 else -y

    @classmethod
    def make(cls, x):
        if x > 1:
            return cls(x * 2)
        return cls(x)

    def __add__(self, other):
        return other if other > 0 else self.__x


class Derived(Base):
    def __init__(self, x):
        if x > 1:
            super().__init__(x)
        else:
            super().__init__(100)

    def value(self, y):
        if y > 0:
            return super().value(y) * 2
        return [super(Derived, self).value(y) for _ in range(2)]

    def called(self, y):
        def inner():
            if y > 0:
                return __class__.__name__
            return super(Derived, self).value(y)

        return inner()

    def kept(self, y):
        parent = super()
        if y:
            return parent.value(y)
        return super().size


@on(*INTS)
def methods(x):
    b, d = Base.make(x), Derived(x)
    return b.size, b.value(1), d.value(x), d.called(x), Base.fixed(x), d + x, d.kept(x)


METHODS = [
    (Base, "value"),
    (Base, "_Base__hidden"),
    (Base, "__init__"),
    (Base, "__add__"),
    (Derived, "__init__"),
    (Derived, "value"),
    (Derived, "called"),
    (Derived, "kept"),
]
