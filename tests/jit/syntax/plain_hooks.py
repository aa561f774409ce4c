"""The hooks with the meaning of plain Python, to test conversion alone."""

import operator
from collections.abc import Sequence


class Undefined:
    """Stands for a variable without a value."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Undefined({self.name!r})"


class Element:
    """What one item of a comprehension gives."""

    def __init__(self, conditions, thunk):
        self.conditions = conditions
        self.thunk = thunk


class Nested(Element):
    """One item of a comprehension that goes on with a further `for`."""

    def __init__(self, conditions, thunk, function):
        super().__init__(conditions, thunk)
        self.function = function


class Trying:
    """The block of a `try` that has handlers."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return False


UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert}

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda x, container: x in container,
    "not in": lambda x, container: x not in container,
}

AUGMENTED = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "@=": operator.imatmul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
}

BINARY = OPERATORS | {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "@": operator.matmul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}

CONVERSIONS = {"r": repr, "s": str, "a": ascii, None: lambda value: value}


class PlainHooks:
    """What converted code calls.

    Args:
        stress: Whether blocks save, spoil and restore their state on the way, as a
            tracer does: then a name that is missing in a state is noticed.
    """

    def __init__(self, stress=False):
        self.stress = stress
        self.states = []

    # Blocks.

    def _checked(self, get, set, names):
        self.states.append(names)
        state = get()
        assert isinstance(state, tuple)
        # Behind the live names stand those that a branch binds and nobody reads.
        assert len(state) >= len(names)
        assert list(names) == sorted(names)
        if self.stress:
            set(tuple(map(Undefined, (*names, *["dead"] * len(state))))[: len(state)])
            set(state)
            assert all(
                x is y or (isinstance(x, Undefined) and isinstance(y, Undefined))
                for x, y in zip(get(), state, strict=True)
            )

    def if_stmt(self, test, then, orelse, get, set, names):
        self._checked(get, set, names)
        if test:
            then()
        else:
            orelse()
        self._checked(get, set, names)

    def while_stmt(self, test, body, get, set, names):
        self._checked(get, set, names)
        while test():
            body()
            self._checked(get, set, names)

    def for_stmt(self, iterable, assign, body, test, get, set, names):
        self._checked(get, set, names)
        for item in iterable:
            assign(item)
            body()
            self._checked(get, set, names)
            if test is not None and not test():
                break

    # Expressions.

    def if_exp(self, test, then, orelse):
        return then() if test else orelse()

    def and_(self, *thunks):
        value = True
        for thunk in thunks:
            value = thunk()
            if thunk is thunks[-1] or not value:
                break
        return value

    def or_(self, *thunks):
        value = False
        for thunk in thunks:
            value = thunk()
            if thunk is thunks[-1] or value:
                break
        return value

    def not_(self, x):
        return not x

    def compare(self, left, *pairs):
        value = True
        for i, (op, thunk) in enumerate(pairs):
            right = thunk()
            value = OPERATORS[op](left, right)
            if i == len(pairs) - 1 or not value:
                break
            left = right
        return value

    def unary(self, op, x):
        return UNARY[op](x)

    def binary(self, op, x, y):
        return BINARY[op](x, y)

    def in_(self, x, container):
        return x in container

    def not_in(self, x, container):
        return x not in container

    def call(self, f, /, *args, **kwargs):
        return f(*args, **kwargs)

    def attr(self, obj, name):
        return getattr(obj, name)

    def set_attr(self, obj, name, value):
        setattr(obj, name, value)

    def del_attr(self, obj, name):
        delattr(obj, name)

    def item(self, obj, key):
        return obj[key]

    def set_item(self, obj, key, value):
        obj[key] = value

    def del_item(self, obj, key):
        del obj[key]

    def augmented(self, op, x, value):
        return AUGMENTED[op](x, value)

    def aug_attr(self, obj, name, op, thunk):
        old = getattr(obj, name)
        setattr(obj, name, AUGMENTED[op](old, thunk()))

    def aug_item(self, obj, key, op, thunk):
        old = obj[key]
        obj[key] = AUGMENTED[op](old, thunk())

    def fstring(self, *parts):
        return "".join(
            part
            if isinstance(part, str)
            else format(CONVERSIONS[part[1]](part[0]), part[2] or "")
            for part in parts
        )

    # Variables.

    def undefined(self, name):
        return Undefined(name)

    def load(self, value):
        if isinstance(value, Undefined):
            raise UnboundLocalError(
                f"cannot access local variable '{value.name}' where it is not "
                "associated with a value"
            )
        return value

    def made(self, value):
        return value

    def load_free(self, value):
        if isinstance(value, Undefined):
            raise NameError(
                f"cannot access free variable '{value.name}' where it is not "
                "associated with a value in enclosing scope"
            )
        return value

    def result(self, value):
        assert not isinstance(value, Undefined)
        return value

    # Other statements.

    def assert_(self, test, message):
        if not test:
            raise AssertionError(*([] if message is None else [message()]))

    def raise_(self, exception, cause):
        if cause is None:
            raise exception()
        raise exception() from cause()

    def context(self, manager):
        return manager

    def trying(self):
        return Trying()

    def unpack(self, value, before, starred, after):
        if starred:
            *items, = value  # fmt: skip
            if len(items) < before + after:
                raise ValueError(
                    f"not enough values to unpack (expected at least {before + after}, "
                    f"got {len(items)})"
                )
            return items
        # Python looks at one item more than it needs, and says what it knows.
        return _exactly(value, before)

    def is_sequence(self, subject, length, starred):
        if not isinstance(subject, Sequence) or isinstance(
            subject, str | bytes | bytearray
        ):
            return False
        return len(subject) >= length if starred else len(subject) == length

    # Functions.

    def nested_function(self, f):
        return f

    def comprehension(self, kind, iterable, fn):
        elements = self._elements(iterable, fn)
        if kind == "generator":
            return elements
        return {"list": list, "set": set, "dict": dict}[kind](elements)

    def _elements(self, iterable, fn):
        for item in iterable:
            element = fn(item)
            if not all(condition() for condition in element.conditions):
                continue
            if isinstance(element, Nested):
                yield from self._elements(element.thunk(), element.function)
            else:
                yield element.thunk()

    def element(self, conditions, thunk):
        return Element(conditions, thunk)

    def nested(self, conditions, iterable, fn):
        return Nested(conditions, iterable, fn)


def _exactly(value, count):
    """Take a value apart into so many items, with Python's own messages."""
    names = ", ".join(f"x{i}" for i in range(count))
    scope = {"value": value}
    exec(f"[{names}] = value", scope)
    return [scope[f"x{i}"] for i in range(count)]
