"""Programs that decide: if, conditional expressions, and/or, match, early returns."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

from typing import Any

import gtape as gt
from tests.jit.corpus import Cases, Corpus, counted

BRANCHES = Corpus("branches")

ONE = Cases((0.7,), (-0.4,), (1.6,))
TWO = Cases((0.7, 1.2), (-0.4, 0.3), (1.3, -0.8), (-1.1, -0.5))
VECTOR = Cases(([0.3, -0.7, 1.1],), ([-0.2, 0.4, -0.9],), ([1.2, 0.8, 0.1],))


@BRANCHES.add(ONE)
def if_alone(x: Any) -> Any:
    y = x * 2.0
    if x > 0.0:
        y = gt.sin(y) * x
    return y * y


@BRANCHES.add(ONE)
def if_else(x: Any) -> Any:
    if x > 0.0:
        y = gt.exp(x) * x
    else:
        y = gt.cos(x) - x * x
    return gt.sin(y) + y


@BRANCHES.add(Cases((0.7,), (-0.4,), (1.6,), (-2.3,)))
def if_elif_else(x: Any) -> Any:
    if x < -1.0:
        y = x * x * x
    elif x < 0.0:
        y = gt.exp(x)
    elif x < 1.0:
        y = gt.sin(3.0 * x)
    else:
        y = 1.0 / x
    return y * gt.tanh(y) + x


@BRANCHES.add(ONE)
def if_elif_without_else(x: Any) -> Any:
    y = x
    if x > 1.0:
        y = x * x
    elif x > 0.0:
        y = gt.exp(-x)
    return gt.sin(y * x)


@BRANCHES.add(TWO)
def nested_ifs(x: Any, y: Any) -> Any:
    z = x - y
    if x > 0.0:
        if y > 0.0:
            z = gt.sin(x * y)
        else:
            z = z * gt.cos(y)
    else:
        z = z * z
        if y > 0.0:
            z = z + gt.exp(x)
        z = z * y
    return z * z + z


@BRANCHES.add(TWO)
def swap_in_a_branch(x: Any, y: Any) -> Any:
    a, b = x, y
    if a < b:
        a, b = b, a
    return gt.sin(a) * b + a * a * b


@BRANCHES.add(TWO)
def several_names_in_branches(x: Any, y: Any) -> Any:
    a = x
    b = y
    c = x * y
    if c > 0.0:
        a = a + b
        c = a * c
    else:
        b = b * c
        a = a - 1.0
    return gt.sin(a) + gt.cos(b) * c * a


@BRANCHES.add(TWO)
def same_tensor_twice_in_branches(x: Any, y: Any) -> Any:
    if x > y:
        a, b = x, x
    else:
        a, b = y, x
    return a * gt.sin(b) + a * b


@BRANCHES.add(ONE)
def name_set_in_one_branch_and_read_there(x: Any) -> Any:
    y = x * x
    if x > 0.0:
        extra = gt.sin(y)
        y = y + extra * extra
    return gt.exp(-y)


@BRANCHES.add(ONE)
def name_set_in_one_branch_read_under_the_same_test(x: Any) -> Any:
    positive = x > 0.0
    if positive:
        extra = gt.exp(x)
    y = gt.cos(x)
    if positive:
        y = y * extra
    return y * y


@BRANCHES.add(ONE)
def branch_that_does_not_depend_on_the_input(x: Any) -> Any:
    if x > 0.0:
        y = 2.0
    else:
        y = x
    return gt.sin(x * y) + y * x


@BRANCHES.add(ONE)
def integer_and_float_branches(x: Any) -> Any:
    if x > 0.0:
        factor = 3
    else:
        factor = 0.5
    return gt.sin(factor * x) * x


@BRANCHES.add(ONE)
def integer_and_tensor_branches(x: Any) -> Any:
    y = 1
    if x > 0.0:
        y = x * x
    return gt.exp(y * x)


@BRANCHES.add(ONE)
def conditional_expression(x: Any) -> Any:
    y = gt.sin(x) if x > 0.0 else x * x
    return y * y + x


@BRANCHES.add(ONE)
def nested_conditional_expressions(x: Any) -> Any:
    y = x * x if x > 1.0 else gt.exp(x) if x > 0.0 else gt.cos(x)
    return gt.tanh(y) * y


@BRANCHES.add(TWO)
def conditional_expression_as_argument(x: Any, y: Any) -> Any:
    return gt.sin(x if x > y else y * 2.0) * (1.0 if y > 0.0 else x)


@BRANCHES.add(TWO)
def and_of_two(x: Any, y: Any) -> Any:
    z = x + y
    if x > 0.0 and y > 0.0:
        z = z * gt.log(x * y)
    return gt.sin(z)


@BRANCHES.add(TWO)
def or_of_two(x: Any, y: Any) -> Any:
    z = x * y
    if x < -1.0 or y < 0.0:
        z = gt.exp(z)
    else:
        z = z - 1.0
    return z * gt.sin(z)


@BRANCHES.add(TWO)
def not_of_a_comparison(x: Any, y: Any) -> Any:
    if not x > y:
        return gt.sin(x) * y
    return gt.cos(y) * x


@BRANCHES.add(TWO)
def and_or_not_mixed(x: Any, y: Any) -> Any:
    if (x > 0.0 and not y > 0.0) or (x < 0.0 and y < 0.0):
        z = x / (2.0 + gt.sin(y))
    else:
        z = x * gt.exp(y)
    return z * z


@BRANCHES.add(TWO)
def and_keeps_short_circuit(x: Any, y: Any) -> Any:
    # The logarithm of a negative number must not be met.
    big = x > 0.0 and gt.log(x) + y > 0.1
    z = gt.sin(x * y)
    if big:
        z = z * x
    return z + z * z


@BRANCHES.add(ONE)
def chained_comparison(x: Any) -> Any:
    if -0.5 < x < 1.0:
        y = gt.sin(x)
    else:
        y = x * x * x
    return y * y + x * y


@BRANCHES.add(TWO)
def chained_comparison_of_three(x: Any, y: Any) -> Any:
    if -2.0 < x < y < 2.0:
        z = y - x
    else:
        z = x * y
    return gt.exp(z) * x


@BRANCHES.add(ONE)
def comparison_with_a_call_inside(x: Any) -> Any:
    y = x * 1.5
    if 0.0 < gt.sin(y) <= 0.99:
        y = y * gt.sin(y)
    return gt.cos(y) * x


@BRANCHES.add(counted((0.7,), (-0.4,), (1.3,)), trips=(0, 1, 2, 3, 5))
def membership_of_a_number(n: int, x: Any) -> Any:
    if n in (1, 3, 5):
        y = gt.sin(x)
    else:
        y = x * x
    if n not in (2, 3):
        y = y * 2.0 + x
    return y * y


@BRANCHES.add(ONE)
def walrus_in_a_condition(x: Any) -> Any:
    if (y := gt.sin(x) * 2.0) > 0.5:
        z = y * x
    else:
        z = y - x
    return gt.exp(z) * y


@BRANCHES.add(TWO)
def walrus_in_an_and(x: Any, y: Any) -> Any:
    total = x
    if (a := x * y) > 0.0 and (b := a + y) < 2.0:
        total = a * b
    return gt.sin(total) + a * x


@BRANCHES.add(ONE)
def comparison_kept_in_a_name(x: Any) -> Any:
    positive = x > 0.0
    large = gt.abs(x) > 1.0
    y = x
    if positive:
        y = gt.sin(y)
    if large:
        y = y * y
    if not large and positive:
        y = y + 1.0
    return y * gt.cos(y)


@BRANCHES.add(ONE)
def comparison_used_as_number(x: Any) -> Any:
    y = gt.cast(x > 0.0, "float64") * x + gt.cos(x)
    return y * y


@BRANCHES.add(VECTOR)
def branch_on_a_reduction(x: Any) -> Any:
    if gt.reduce_sum(x) > 0.4:
        y = gt.sin(x) * x
    else:
        y = gt.exp(x)
    return gt.reduce_sum(y * y)


@BRANCHES.add(VECTOR)
def branches_of_different_shape(x: Any) -> Any:
    if x[0] > 0.0:
        y = x[:2] * x[1:]
    else:
        y = gt.sin(x)
    return gt.reduce_sum(y) ** 2 + gt.reduce_sum(y * y)


@BRANCHES.add(VECTOR)
def branch_with_scatter(x: Any) -> Any:
    y = x * 1.0
    if x[1] > 0.0:
        y[0] = x[2] * x[1]
    else:
        y[1:] = gt.sin(x[:2])
    return gt.reduce_sum(y * y * x)


@BRANCHES.add(TWO)
def early_return(x: Any, y: Any) -> Any:
    if x > 1.0:
        return x * gt.sin(y)
    z = x * y
    if z > 0.0:
        return gt.exp(z)
    return z * z - x


@BRANCHES.add(Cases((0.7, 1.2), (-0.4, 0.3), (1.3, -0.8), (0.5, -0.5), (-1.5, -0.5)))
def return_in_each_branch(x: Any, y: Any) -> Any:
    if x > y:
        if x > 1.0:
            return gt.sin(x) * y
        else:
            return gt.cos(x) + y * y
    elif y > 0.0:
        return x * y * y
    else:
        return gt.exp(x - y)


@BRANCHES.add(TWO)
def return_in_a_branch_with_work_behind(x: Any, y: Any) -> Any:
    z = gt.sin(x)
    if y > 0.0:
        z = z * y
        if x > 0.0:
            return z * z
        z = z + x
    z = z * 2.0
    return z * gt.cos(z) + y


@BRANCHES.add(ONE)
def match_on_a_python_name(x: Any) -> Any:
    y = x
    for kind in ("sin", "square", "other"):
        match kind:
            case "sin":
                y = gt.sin(y)
            case "square" if y > 0.3:
                y = y * y
            case "square" | "cube":
                y = y * y * y
            case _:
                y = y + x
    return y * y


@BRANCHES.add(counted((0.7,), (-0.4,), (1.3,)), trips=(0, 1, 2, 3, 5))
def match_on_a_number(n: int, x: Any) -> Any:
    match n:
        case 0:
            y = gt.sin(x)
        case 1 | 2:
            y = x * x
        case k if x > 1.0:
            y = x / k
        case _:
            y = gt.exp(x)
    return y * y + x


@BRANCHES.add(TWO)
def match_on_a_pair(x: Any, y: Any) -> Any:
    match (x, y):
        case (a, b) if a > b:
            z = a - b
        case (a, b):
            z = a * b
    return gt.sin(z) * x


@BRANCHES.add(TWO)
def assertion_that_holds(x: Any, y: Any) -> Any:
    z = x * x + y * y
    assert z > 0.0, "a sum of squares"
    if x > 0.0:
        assert x * 2.0 > x
        z = gt.sqrt(z)
    return z * x


@BRANCHES.add(ONE)
def error_that_is_not_raised(x: Any) -> Any:
    if x > 5.0:
        raise ValueError(f"{x} is too large")
    y = gt.sin(x)
    if y > 2.0:
        raise ArithmeticError("no sine is so large")
    else:
        y = y * x
    return y * y


@BRANCHES.add(ONE)
def branch_of_a_gradient(x: Any) -> Any:
    # The same function on both sides of the kink, so that the derivative is continuous.
    y = x * x if x > 0.0 else -x * x
    return y * gt.tanh(y) + y


@BRANCHES.add(TWO)
def where_inside_a_branch(x: Any, y: Any) -> Any:
    if x > 0.0:
        z = gt.where(y > 0.0, gt.sin(x * y), x)
    else:
        z = gt.where(y > 0.0, gt.sqrt(gt.abs(y)), y * y)
    return z * z


@BRANCHES.add(TWO)
def unselected_branch_is_not_finite(x: Any, y: Any) -> Any:
    # Only the branch taken counts: log and sqrt of negative numbers are never met.
    z = gt.log(x) * y if x > 0.0 else x * y
    if y > 0.0:
        z = z + gt.sqrt(y)
    return gt.sin(z)


@BRANCHES.add(TWO)
def pass_in_a_branch(x: Any, y: Any) -> Any:
    z = x
    if x > y:
        pass
    else:
        z = gt.sin(y) * x
    return z * y


@BRANCHES.add(TWO)
def branch_overwrites_what_was_read(x: Any, y: Any) -> Any:
    a = x * y
    b = gt.sin(a)
    if b > 0.0:
        a = b * x
        b = a * y
    else:
        a, b = b, a
    return a * a + gt.cos(b)
