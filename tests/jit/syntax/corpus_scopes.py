# ruff: noqa: B007, B023, C416, E731, F821, F841, I001
"""Variables: closures, declarations, unbound names, walrus, comprehensions."""

from tests.jit.syntax.corpus import on, say

INTS = ((-2,), (0,), (1,), (2,), (3,), (7,))
COUNTER = 0


@on(*INTS)
def nonlocal_and_if(x):
    y = x

    def g():
        nonlocal y
        if x > 1:
            y = y * 2

    g()
    return y


@on(*INTS)
def call_in_block_rebinds(x):
    y = x

    def double():
        nonlocal y
        y = y * 2

    if x > 1:
        double()
    for _ in range(2):
        double()
    return y


@on(*INTS)
def nonlocal_first_bound_inside(x):
    def g():
        nonlocal y
        if x > 1:
            y = "set"

    g()
    if x > 100:
        y = 0
    return y


@on(*INTS)
def nonlocal_two_levels(x):
    y = 0

    def outer():
        def inner():
            nonlocal y
            while y < x:
                y += 1
                if y == 2:
                    return "two"
            return "end"

        return inner()

    return outer(), y


@on(*INTS)
def global_in_branch(x):
    global COUNTER
    COUNTER = 10
    if x > 0:
        COUNTER = COUNTER + x
    for i in range(2):
        COUNTER += i
    return COUNTER


@on(*INTS)
def global_declared_in_branch(x):
    if x > 0:
        global COUNTER
        COUNTER = x
    else:
        COUNTER = -5
    return COUNTER


@on(*INTS)
def global_undefined(x):
    global NEVER_BOUND
    if x > 0:
        NEVER_BOUND = x
        del NEVER_BOUND
    try:
        return NEVER_BOUND
    except NameError as error:
        return str(error)


@on(*INTS)
def global_loop_target(x):
    global COUNTER
    for COUNTER in range(x):
        pass
    return COUNTER


@on(*INTS)
def unknown_name(x):
    if x > 0:
        return no_such_name
    return x


@on(*INTS)
def closures_in_a_loop(n):
    made = []
    for i in range(n):
        j = i * 2
        made.append(lambda: (i, j))
    return [f() for f in made]


@on(*INTS)
def closures_in_a_loop_with_defaults(n):
    made = []
    for i in range(n):
        made.append(lambda i=i: i)
    return [f() for f in made]


@on(*INTS)
def closure_sees_later_value(n):
    y = 1
    f = lambda: y
    if n > 0:
        y = 2
    return f()


@on(*INTS)
def closure_over_unbound(n):
    f = lambda: y
    if n > 0:
        y = 2
    return f()


@on(*INTS)
def function_defined_in_branch(n):
    if n > 0:

        def f(x):
            return x + n

    else:
        f = abs
    return f(-1)


@on(*INTS)
def function_defined_maybe(n):
    if n > 0:

        def f(x):
            if x == 0:
                return "end"
            return f(x - 1)

    return f(n)


@on(*INTS)
def lambda_with_control(n):
    f = lambda x: "big" if x > 2 else ("one" if x == 1 else not x)
    return f(n)


@on(*INTS)
def read_before_bound(n):
    say(y)
    y = 1


@on(*INTS)
def read_before_bound_in_branch(n):
    if n > 0:
        say(y)
    y = 1
    return y


@on(*INTS)
def read_before_bound_in_loop(n):
    for i in range(n):
        if i > 0:
            say(y)
        else:
            y = "first"
    return y


@on(*INTS)
def read_in_and(n):
    if n > 2:
        y = 1
    return n > 0 and y


@on(*INTS)
def read_in_comprehension(n):
    if n > 2:
        y = 1
    return [y for _ in range(n)]


@on(*INTS)
def augmented_unbound(n):
    if n > 0:
        y = 1
    y += 1
    return y


@on(*INTS)
def delete_in_branch(n):
    y = n
    if n > 0:
        del y
    return y


@on(*INTS)
def delete_twice(n):
    y = n
    if n > 0:
        del y
    del y
    return n


@on(*INTS)
def delete_parameter(n):
    del n
    return n


@on(*INTS)
def delete_captured(n):
    y = n
    f = lambda: y
    if n > 1:
        del y
    return f()


@on(*INTS)
def delete_and_rebind(n):
    y = 0
    for i in range(n):
        y += i
        z = y
        del y
        y = z
    return y


@on(*INTS)
def delete_several(n):
    a, b, c = [n], {n: 1, 2: 3}, n
    del a[0], (b[n], c)
    return a, b


@on(*INTS)
def walrus_in_test(n):
    if (y := n * 2) > 2:
        return y
    return -y


@on(*INTS)
def walrus_in_and(n):
    if n > 0 and (y := n + 1) > 2:
        return y
    return y


@on(*INTS)
def walrus_in_or(n):
    y = "before"
    if n > 2 or (y := n):
        say("taken")
    return y


@on(*INTS)
def walrus_in_conditional_expression(n):
    a = (y := 1) if n > 0 else (z := 2)
    return a, y


@on(*INTS)
def walrus_in_while(n):
    while (m := n - 1) > 0:
        say(m)
        n = m
    return m, n


@on(*INTS)
def walrus_in_while_with_jumps(n):
    while (m := n - 1) > 0 and (k := m * 2):
        n = m
        if k == 4:
            continue
        if k == 10:
            break
        say(m, k)
    else:
        return "else", m
    return m, k


@on(*INTS)
def walrus_in_comprehension(n):
    found = [y := x * 2 for x in range(n) if (z := x) != 1]
    return found, y, z


@on(*INTS)
def walrus_in_lambda(n):
    f = lambda x: (y := x + 1) and (z := y + 1) and (y, z)
    return f(n)


@on(*INTS)
def walrus_in_chained_comparison(n):
    if 0 < n < (limit := 5) < (other := 6):
        return limit, other
    return limit


@on(*INTS)
def walrus_global(n):
    global COUNTER
    if n > 0 and (COUNTER := n):
        say("set")
    return n


@on(*INTS)
def walrus_in_call_arguments(n):
    return say((y := n), y + 1, y and (w := y)), y


@on(*INTS)
def comprehension_list(n):
    return [i * 2 for i in range(n)]


@on(*INTS)
def comprehension_conditions(n):
    return [i for i in range(n) if i % 2 if i > 1 or not i]


@on(*INTS)
def comprehension_nested_for(n):
    return [(i, j) for i in range(n) for j in range(i) if j != 1]


@on(*INTS)
def comprehension_in_comprehension(n):
    return [[i * j for j in range(i)] for i in range(n)]


@on(*INTS)
def comprehension_set_dict(n):
    return {i % 3 for i in range(n)}, {i: i + n for i in range(n) if i}


@on(*INTS)
def comprehension_targets(n):
    pairs = [(i, (i + 1, i + 2)) for i in range(n)]
    return [a + b * c for a, (b, c) in pairs], [x for _, *x in [(1, 2, 3)]]


@on(*INTS)
def comprehension_attribute_target(n):
    class Place:
        x = 0

    place = Place()
    return [place.x for place.x in range(n)]


@on(*INTS)
def comprehension_does_not_leak(n):
    i = "mine"
    found = [i for i in range(n)]
    return i, found


@on(*INTS)
def comprehension_closures(n):
    return [f() for f in [lambda: i for i in range(n)]]


@on(*INTS)
def comprehension_in_branch(n):
    y = 2
    if n > 1:
        y = [y for y in range(n)]
    return y


@on(*INTS)
def comprehension_reads_late_target(n):
    return [y for x in range(n) if y for y in range(2)]


@on(*INTS)
def generator_expressions(n):
    return sum(i for i in range(n)), max((i for i in range(n)), default=None)


@on(*INTS)
def generator_is_lazy(n):
    y = 1
    g = (say(i + y) for i in say(range(n)))
    y = 10
    return list(g)


@on(*INTS)
def any_and_all(n):
    return any(i > 1 for i in range(n)), all(i < 2 for i in range(n))


@on(*INTS)
def shadowed_builtins(n):
    slice, locals, super = [n, 2, 3], len, min
    return slice[1:], locals(slice), super(slice)


@on(*INTS)
def names_of_functions(n):
    def inner():
        pass

    class Local:
        def method(self):
            pass

    return (
        inner.__name__,
        inner.__qualname__,
        (lambda: 0).__name__,
        (lambda: 0).__qualname__,
        (lambda: 0 if (y := 1) and (z := 2) else 1).__qualname__,
        Local.__qualname__,
        Local.method.__qualname__,
    )


@on(*INTS)
def class_in_function(n):
    factor = 3
    if n > 0:
        factor = 4

    class Local:
        size = n * factor

        def method(self):
            if self.size > 3:
                return factor
            return -factor

    return Local.size, Local().method()


@on(*INTS)
def class_reads_unbound(n):
    if n > 0:
        y = 1

    class Local:
        z = y

    return Local.z


@on(*INTS)
def class_method_rebinds(n):
    y = 1

    class Local:
        def method(self):
            nonlocal y
            y = 5

    if n > 0:
        Local().method()
    return y


@on(*INTS)
def import_in_branch(n):
    if n > 0:
        import math as m
        from os import path
        import os.path
    return m.floor(1.5), path.sep, os.path.sep
