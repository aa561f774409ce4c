# ruff: noqa: B007, F823, F841, SIM102, SIM108
"""`if`, `while`, `for` and the jumps out of them."""

from tests.jit.syntax.corpus import on, say

INTS = ((-2,), (-1,), (0,), (1,), (2,), (3,), (7,))


@on(*INTS)
def if_alone(x):
    if x > 0:
        x = x + 1
    return x


@on(*INTS)
def if_else(x):
    if x > 0:
        y = x + 1
    else:
        y = -x
    return y


@on(*INTS)
def elif_chain(x):
    if x > 2:
        y = "many"
    elif x > 1:
        y = "two"
    elif x == 1:
        y = "one"
    else:
        y = "few"
    return y


@on(*INTS)
def nested_ifs(x):
    y = 0
    if x > 0:
        if x > 2:
            y = 3
        else:
            z = x * 2
            y = z
    return y


@on(*INTS)
def one_branch_only(x):
    if x > 0:
        y = x
    return y


@on(*INTS)
def one_branch_never_read(x):
    if x > 0:
        y = x
    return x


@on(*INTS)
def early_return(x):
    if x > 0:
        return "positive"
    say("after")
    return "rest"


@on(*INTS)
def early_returns(x):
    if x > 2:
        return "many"
    elif x > 0:
        say("some")
        return "some"
    y = x * 2
    if y < -2:
        return y
    return None


@on(*INTS)
def return_in_one_nested_branch(x):
    if x > 0:
        if x > 2:
            return "deep"
        say("shallow")
    say("after")
    for i in range(2):
        say(i)
    return x


@on(*INTS)
def return_falls_off(x):
    if x > 0:
        return 1


@on(*INTS)
def return_nothing(x):
    if x > 0:
        return
    say("rest")


@on(*INTS)
def returns_everywhere(x):
    if x > 0:
        return 1
    else:
        return -1
    say("dead")


@on(*INTS)
def dead_code_is_local(x):
    if x > 0:
        return say
    return 5
    say = 3


@on(*INTS)
def return_small_rest(x):
    if x > 0:
        if x > 2:
            return "a"
    return "b"


@on(*INTS)
def conditional_expression(x):
    return (say("a") if x > 0 else say("b")) + (say("c") if x > 1 else "d")


@on(*INTS)
def while_alone(n):
    s = 1
    while n > 0:
        s = s * 2
        n -= 1
    return s, n


@on(*INTS)
def while_temporary(n):
    while n > 0:
        t = n * 2
        n = n - 1
    return n


@on(*INTS)
def while_temporary_read(n):
    while n > 0:
        t = n * 2
        n = n - 1
    return t


@on(*INTS)
def while_else(n):
    while n > 0:
        n -= 1
    else:
        n = 100
    return n


@on(*INTS)
def while_break_else(n):
    while n > 0:
        n -= 2
        if n == 1:
            break
    else:
        n = 100
    return n


@on(*INTS)
def while_true(n):
    i = 0
    while True:
        i += 1
        if i > n:
            break
    return i


@on(*INTS)
def while_true_return(n):
    i = 0
    while True:
        i += 1
        if i > n:
            return i


@on(*INTS)
def while_true_both(n):
    i = 0
    while True:
        i += 1
        if i > n:
            return i
        if i == 2:
            break
        say(i)
    return -i


@on(*INTS)
def while_continue(n):
    s = 0
    while n > 0:
        n -= 1
        if n % 2:
            continue
        s += n
    return s


@on(*INTS)
def while_return_else(n):
    while n > 0:
        n -= 1
        if n == 5:
            return "five"
        if n == 0:
            break
    else:
        return "else"
    return "after"


@on(*INTS)
def for_alone(n):
    s = 0
    for i in range(n):
        s += i
    return s


@on(*INTS)
def for_target_read(n):
    for i in range(n):
        pass
    return i


@on(*INTS)
def for_target_before(n):
    i = "none"
    for i in range(n):
        say(i)
    return i


@on(*INTS)
def for_assigned_target(n):
    for i in range(n):
        i = i * 10
        say(i)
    return n


@on(*INTS)
def for_break(n):
    for i in range(n):
        if i == 2:
            break
        say(i)
    return "end"


@on(*INTS)
def for_break_unconditional(n):
    for i in range(n):
        say(i)
        break
    return "end"


@on(*INTS)
def for_continue(n):
    s = []
    for i in range(n):
        if i % 2:
            continue
        s.append(i)
    return s


@on(*INTS)
def for_continue_last(n):
    for i in range(n):
        say(i)
        continue
    return n


@on(*INTS)
def for_else(n):
    for i in range(n):
        say(i)
    else:
        return "else"
    return "after"


@on(*INTS)
def for_break_else(n):
    for i in range(n):
        if i == 2:
            say("break")
            break
    else:
        say("else")
    return n


@on(*INTS)
def for_return(n):
    for i in range(n):
        if i == 2:
            return i
    return "none"


@on(*INTS)
def for_return_falls_off(n):
    for i in range(n):
        if i == 2:
            return i


@on(*INTS)
def for_return_break_continue_else(n):
    for i in range(n):
        if i == 0:
            continue
        say(i)
        if i == 1 and n == 2:
            break
        if i == 2:
            return "returned"
    else:
        say("else")
    say("after")
    return "end"


@on(*INTS)
def for_iterator_is_left(n):
    items = iter(range(n))
    for i in items:
        if i == 1:
            break
    return list(items)


@on(*INTS)
def for_iterator_after_return(n):
    items = iter(range(n))

    def search():
        for i in items:
            if i == 1:
                return "found"
        return "not"

    return search(), list(items)


@on(*INTS)
def loops_nested(n):
    s = []
    for i in range(n):
        for j in range(i):
            s.append((i, j))
    return s


@on(*INTS)
def loops_inner_break(n):
    s = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            s.append((i, j))
        else:
            s.append("full")
    return s


@on(*INTS)
def loops_inner_return(n):
    for i in range(n):
        for j in range(n):
            if i * j == 2:
                return i, j
            say(i, j)
        say("inner")
    say("outer")
    return None


@on(*INTS)
def loops_outer_continue_from_else(n):
    s = []
    for i in range(n):
        for j in range(n):
            if j == 2:
                break
        else:
            continue
        s.append(i)
    return s


@on(*INTS)
def loops_outer_break_from_else(n):
    s = []
    for i in range(n):
        for j in range(i):
            if j == 5:
                break
        else:
            if i == 3:
                break
        s.append(i)
    else:
        s.append("else")
    return s


@on(*INTS)
def loops_mixed(n):
    total = 0
    for i in range(n):
        k = i
        while k > 0:
            k -= 1
            if k == 3:
                break
            total += k
        else:
            total += 100
        if total > 1000:
            return total
    return -total


@on(*INTS)
def loop_else_nested_flags(n):
    while n > 0:
        n -= 1
        while n > 2:
            n -= 1
            if n == 4:
                break
        else:
            if n == 2:
                continue
            say("inner else", n)
        say("tail", n)
    return n


@on(*INTS)
def break_in_branches(n):
    for i in range(n):
        if i == 1:
            say("one")
        elif i == 3:
            if n > 3:
                break
            say("not")
        else:
            continue
        say("tail", i)
    return n


@on(*INTS)
def break_in_both(n):
    for i in range(n):
        if i % 2 == 0:
            say("even")
            break
        else:
            break
        say("dead")
    return n


@on(*INTS)
def jump_and_long_rest(n):
    for i in range(n):
        if i > 0:
            if i == 2:
                continue
            if i == 4:
                break
            say("a", i)
        for j in range(2):
            say("b", i, j)
        if i == 5:
            return "five"
        say("c")
    return n


@on(*INTS)
def return_in_deep_loops(n):
    for i in range(n):
        while True:
            for j in range(3):
                if j == 2:
                    if i == 2:
                        return "found"
                    break
            else:
                return "never"
            break
        say(i)
    else:
        return "else"


@on(*INTS)
def while_test_has_effects(n):
    while say(n) > 0 and say("second") and n != 5:
        n -= 1
        if n == 2:
            continue
        say("body")
    return n


@on(*INTS)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@on(*INTS)
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 50:
            return None
    return steps


@on(*INTS)
def recursion(n):
    if n <= 0:
        return 1
    return n * recursion(n - 1)


@on((0,), (3,), (12,))
def primes(n):
    found = []
    for i in range(2, n):
        for p in found:
            if p * p > i:
                found.append(i)
                break
            if i % p == 0:
                break
        else:
            found.append(i)
    return found


@on((([1, 2, 3]),), ([],), ([3, 0, 1],))
def loop_raises(items):
    s = 0
    for i in items:
        s += 6 // i
    return s


@on(([1, 2],), (5,), (None,))
def loop_over_anything(items):
    for i in items:
        say(i)
    return "end"
