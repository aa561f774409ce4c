# ruff: noqa: B016, F541, F821, F842
"""Assignments, `try`, `with`, `match`, `assert`, `raise` and operators."""

import contextlib

from tests.jit.syntax.corpus import Box, on, say, saying

INTS = ((-2,), (0,), (1,), (2,), (3,), (7,))


@on(((1, 2),), ((1, 2, 3),), ([1],), (5,), ("ab",))
def unpack_two(v):
    a, b = v
    return b, a


@on(((1, 2),), ((1, 2, 3, 4),), ([1],), (range(5),))
def unpack_star(v):
    a, *b, c = v
    return a, b, c


@on(((1, (2, 3)),), ((1, (2, 3, 4)),), ((1, 2),))
def unpack_nested(v):
    a, (b, *c) = v
    return a, b, c


@on(((1, 2, 3),))
def unpack_into_places(v):
    box, items = Box(), [0, 0]
    box.x, items[say(1)], items[0] = v
    return items


@on(((1, 2),))
def unpack_uses_bound_names(v):
    items = [0, 0, 0]
    i, items[i] = v
    items[i], i = v
    return items, i


@on(*INTS)
def chained_assignment(x):
    a = b = c = [x]
    b.append(1)
    return a, c


@on(*INTS)
def chained_assignment_order(x):
    box = say(Box(), Box())
    box.a = box[say("key")] = say("value")
    return box.values


@on(*INTS)
def assignment_order(x):
    box = Box()
    (say("object") and box)[say("key")] = say("value")
    (say("object") and box).name = say("value")
    return x


@on(*INTS)
def augmented_names(x):
    y = x
    y += 1
    y -= 2
    y *= 3
    y **= 2
    y //= 2
    y %= 7
    y |= 8
    y &= 13
    y ^= 3
    y <<= 2
    y >>= 1
    y /= 2
    return y


@on(*INTS)
def augmented_in_place(x):
    y = z = [x]
    y += [2]
    return z


@on(*INTS)
def augmented_places(x):
    box = Box(a=1, k=2)
    box.a += say(x)
    box[say("k")] *= say(x)
    items = [1, 2, 3]
    items[say(1)] -= x
    items[1:] += [x]
    return items


@on(*INTS)
def annotated(x):
    y: int = x
    z: undefined_name
    box = Box()
    box.w: also_undefined = y
    return y


@on(*INTS)
def annotated_only(x):
    z: int
    return z


@on(*INTS)
def subscripts(x):
    a = list(range(10))
    return a[x], a[-1:], a[1:5:2], a[::2][1], a[x:], a[:x]


class Keys:
    def __getitem__(self, key):
        return key


@on(*INTS)
def subscript_keys(x):
    k = Keys()
    return k[1, 2:3, ...], k[x:, :, None], k[(1, 2)], k[*[1, x]], k[()], k[:, 1:2:3]


@on(*INTS)
def delete_places(x):
    box = Box(a=1, b=2)
    del box.a, box[say("b")]
    items = [1, 2, 3]
    del items[:1]
    return box.values, items


@on(*INTS)
def boolean_operators(x):
    return (
        x and say("a") and say(""),
        x > 1 or say(0) or say("c"),
        not x,
        not (x and say("d")),
        (x or 5) and (x > 0 or x),
    )


@on(*INTS)
def chained_comparisons(x):
    return (
        0 < x < 3,
        0 < say(x) < say(3) < say(5),
        x == x == 1,
        1 in [x] in [[1]],
        x is not None is not False,
        x not in (1, 2) != True,
    )


@on(*INTS)
def membership(x):
    return x in (1, 2), x not in [3], x in {x: 1}, x is None, x == 2, x != 2


@on(*INTS)
def comparison_order(x):
    return say("a") in say("abc"), say("b") not in say("xyz")


@on(*INTS)
def calls(x):
    def f(*args, **kwargs):
        return args, kwargs

    more, names = [x, 2], {"k": x}
    return f(), f(1, *more, x, *more), f(a=1, **names, b=2), f(*say(more), f=say(1))


@on(*INTS)
def call_order(x):
    return say("f") and say(say("a"), *say([1, 2]), say("b"))


@on((1.5,), (2,), ("a",))
def fstrings(x):
    w = 10
    return (
        f"{x} {x!r} {x!s} {x!a} {x=} {{literal}}",
        f"{x:>{w}}|{x:{'<'}{w}}|{x:5}",
        f"{w:05d}{'nested ' + f'{w}'}",
        f"",
    )


@on(*INTS)
def starred_displays(x):
    a = [1, *range(x), 2]
    return (*a, x), {*a}, {**{x: 1}, "k": 2}, [*a]


@on(*INTS)
def assert_holds_or_not(x):
    assert x > 0
    assert x > 1, f"too small: {say(x)}"
    assert say(x) != 3, say("message")
    return x


@on(*INTS)
def raise_kinds(x):
    if x == 0:
        raise ValueError
    if x == 1:
        raise ValueError("one")
    if x == 2:
        raise KeyError("two") from ValueError("cause")
    if x == 3:
        raise 5
    return x


@on(*INTS)
def try_except(x):
    try:
        say("try")
        y = 6 // x
    except ZeroDivisionError:
        y = "zero"
    return y


@on(*INTS)
def try_all_parts(x):
    try:
        y = 6 // x
        if x == 2:
            raise KeyError(x)
    except ZeroDivisionError as error:
        y = str(error)
    except KeyError as error:
        y = error.args
    else:
        say("else")
    finally:
        say("finally")
    return y


@on(*INTS)
def try_error_name_unbound(x):
    try:
        6 // x
    except ZeroDivisionError as error:
        say(error.args)
    return error


@on(*INTS)
def try_error_name_unbound_in_block(x):
    error = "before"
    for i in range(x):
        try:
            6 // i
        except ZeroDivisionError as error:
            say(error.args)
    return error


@on(*INTS)
def try_reraise(x):
    try:
        6 // x
    except ZeroDivisionError:
        if x == 0:
            say("again")
            raise
    return x


@on(*INTS)
def try_raise_from_handler(x):
    try:
        return 6 // x
    except ZeroDivisionError as error:
        raise ValueError("bad") from error


@on(*INTS)
def try_return(x):
    try:
        return 6 // x
    except ZeroDivisionError:
        return "zero"
    finally:
        say("finally")


@on(*INTS)
def try_return_in_parts(x):
    try:
        if x == 1:
            return "try"
        y = 6 // x
    except ZeroDivisionError:
        if x == 0:
            return "except"
    else:
        say("else")
        if x == 2:
            return "else"
    finally:
        say("finally")
    return y


@on(*INTS)
def try_return_past_else(x):
    try:
        if x == 1:
            return "try"
        6 // x
    except ZeroDivisionError:
        return "except"
    else:
        return "else"
    finally:
        say("finally")


@on(*INTS)
def try_return_of_a_loop_past_else(x):
    try:
        while x < 3:
            x += 1
        else:
            return x
    except ZeroDivisionError:
        return "except"
    else:
        return "else"


@on(*INTS)
def try_in_loop(n):
    for i in range(-1, n):
        try:
            if i == 2:
                continue
            if i == 4:
                break
            y = 6 // i
        except ZeroDivisionError:
            say("zero")
            continue
        else:
            say("else")
        finally:
            say("finally", i)
        say(y)
    else:
        say("loop else")
    return n


@on(*INTS)
def try_nested(x):
    try:
        try:
            y = 6 // x
        except KeyError:
            y = "key"
        finally:
            say("inner")
    except ZeroDivisionError:
        y = "zero"
    return y


@on(*INTS)
def try_state_seen_by_handler(x):
    y = 0
    try:
        for i in range(3):
            y = i
            6 // (x - i)
    except ZeroDivisionError:
        return "at", y
    return "end", y


@on(*INTS)
def try_in_branch(x):
    y = 1
    if x < 2:
        try:
            y = 6 // x
        except ZeroDivisionError as e:
            y = repr(e)
        z = y
    else:
        z = 0
    return y, z


@on(*INTS)
def try_star(x):
    try:
        if x > 0:
            raise ExceptionGroup("group", [ValueError(x), KeyError(x)])
    except* ValueError as group:
        say(len(group.exceptions))
    except* KeyError:
        say("key")
    return x


@on(*INTS)
def finally_runs_loops(x):
    try:
        y = 6 // x
    finally:
        for i in range(3):
            if i == 1:
                continue
            say(i)
    return y


@on(*INTS)
def handler_types(x):
    kinds = (KeyError, ZeroDivisionError)
    try:
        return 6 // x
    except say(kinds):
        return "caught"


@on(*INTS)
def with_alone(x):
    with saying("a"):
        y = x + 1
    return y


@on(*INTS)
def with_target(x):
    with saying("a") as a, saying("b") as (b,):
        y = a + b
    return y


@on(*INTS)
def with_place_target(x):
    box = Box()
    with saying("a") as box.a, saying(box.a) as box["b"]:
        say("body")
    return x


@on(*INTS)
def with_return(x):
    with saying("a"):
        if x > 0:
            return "inside"
        say("rest")
    return "outside"


@on(*INTS)
def with_always_returns(x):
    with saying("a"):
        return x


@on(*INTS)
def with_swallows(x):
    with saying("a", ZeroDivisionError):
        y = 6 // x
        return y
    return "swallowed"


@on(*INTS)
def with_swallows_and_unbound(x):
    if x < 5:
        with saying("a", ZeroDivisionError):
            y = 6 // x
    return y


@on(*INTS)
def with_in_loop(n):
    for i in range(n):
        with saying(i):
            if i == 1:
                continue
            if i == 3:
                break
            for j in range(2):
                if j == 1:
                    break
                say(i, j)
            if i == 5:
                return "five"
        say("tail")
    else:
        return "else"
    return "end"


@on(*INTS)
def with_suppress(x):
    y = 0
    with contextlib.suppress(ZeroDivisionError):
        y = 1
        6 // x
        y = 2
    return y


@on((0,), (1,), (2,), ("a",), (None,), (True,), (1.0,))
def match_values(x):
    match x:
        case None:
            return "none"
        case True:
            return "true"
        case 0 | 1:
            y = "small"
        case "a":
            y = "letter"
        case other if say(other) == 2:
            y = "two"
        case _:
            y = "rest"
    return y


@on((0,), (3,))
def match_nothing(x):
    match x:
        case 0:
            y = "zero"
    return y


class Colors:
    RED = 1
    BLUE = 2


@on((1,), (2,), (3,))
def match_dotted(x):
    match x:
        case Colors.RED:
            return "red"
        case Colors.BLUE:
            return "blue"
    return "none"


@on(
    ([],),
    ([1],),
    ([1, 2],),
    ((1, 2, 3),),
    ([1, [2, 3]],),
    ([2, 1],),
    ("ab",),
    ({1, 2},),
    (5,),
    (range(4),),
)
def match_sequences(x):
    match x:
        case []:
            return "empty"
        case [a]:
            return "one", a
        case (1, [b, *_]):
            return "nested", b
        case [1, b]:
            return "one and", b
        case [a, 1 | 5 as b]:
            return "second", a, b
        case [a, *rest, b] if a < b:
            return "ordered", a, rest, b
        case str(text):
            return "text", text
        case [*all]:
            return "all", all
    return "none"


@on(([],), ([1, 2],), ([1, 2, 3],), ([3, 2],), (range(4),), ("ab",))
def match_sequences_only(x):
    a = "before"
    match x:
        case [1, a] | [a, 2]:
            pass
        case [a, *rest, b] if say(a) > say(b):
            return "not reached"
        case [a, *rest, _] if say(a) >= 0:
            return "rest", rest
        case [*_] as whole:
            return whole, a
    return a


@on(({"k": 1},), ({"k": 2, "z": 3},), (3,), (2.5,), (complex(1, 2),), ("s",), ({},))
def match_classes(x):
    match x:
        case {"k": 1}:
            y = "k"
        case {"k": value, **rest} if value > 1:
            y = value, rest
        case int(n) if n > 2:
            y = n
        case float():
            y = "float"
        case complex(real=r, imag=i):
            y = r, i
        case str():
            return "text"
        case _:
            y = None
    return y


@on((1,), (5,), (9,))
def match_in_loop(n):
    for i in range(n):
        match i:
            case 2:
                continue
            case 4 if n > 5:
                break
            case _ if i > 3:
                return "big"
        say(i)
    return "end"


@on(*INTS)
def global_names(x):
    return globals()["INTS"] is INTS, eval("x + 1"), len(dir()) > 0


@on(*INTS)
def ellipsis_and_constants(x):
    return ..., None, True, b"b", 1j, "ab"
