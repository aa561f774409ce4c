"""Programs whose paths leave what no tensor can stand for, in names or containers."""

# Each does on purpose what nobody should.
# ruff: noqa: SIM108
from __future__ import annotations

import collections
from typing import Any

import numpy as np

import gtape as gt
from gtape import errors
from tests.jit.wrong import Table

PATHS = Table()

X = np.float64(0.7)
V = np.array([0.3, -0.7, 1.1])
TRACING = {"error": errors.TracingError, "builtin": TypeError}

# --- Branches that do not merge -------------------------------------------------------


@PATHS.add(X, **TRACING, what=r"'y' is .*list of 2.*tuple", hint=r"(?i)one kind")
def list_and_tuple_in_branches(x: Any) -> Any:
    if x > 0.0:
        y = [x, x * 2.0]
    else:
        y = (x, x)
    return y[0]  # <- here


@PATHS.add(X, **TRACING, what=r"'y' is .*2 entries.*3 entries", hint=r"(?i)one kind")
def lists_of_different_length_in_branches(x: Any) -> Any:
    if x > 0.0:
        y = [x, x * 2.0]
    else:
        y = [x, x, x]
    return sum(y)  # <- here


@PATHS.add(X, **TRACING, what=r"'y' is .*dict.*dict", hint=r"(?i)one kind")
def dicts_with_other_keys_in_branches(x: Any) -> Any:
    y = {"a": x}
    if x > 0.0:
        y = {"b": x}
    return len(y) * x  # <- here


@PATHS.add(X, **TRACING, what=r"'y' is .*None", hint=r"(?i)one kind")
def none_in_one_branch(x: Any) -> Any:
    y = None
    if x > 0.0:
        y = x * 2.0
    return y + 1.0  # <- here


@PATHS.add(X, **TRACING, what=r"the expression is .*None", hint=r"(?i)one kind")
def none_in_a_conditional_expression(x: Any) -> Any:
    y = x if x > 0.0 else None  # <- here
    if y is None:
        return x
    return y


@PATHS.add(X, **TRACING, what=r"'y' is .*None", hint=r"(?i)one kind")
def check_for_none_after_branches_met(x: Any) -> Any:
    y = None
    if x > 0.0:
        y = x
    if y is None:  # <- here
        return x
    return y


@PATHS.add(X, **TRACING, what=r"expression is 'big'.*'small'", hint=r"(?i)one kind")
def strings_in_a_conditional_expression(x: Any) -> Any:
    kind = "big" if x > 0.5 else "small"  # <- here
    return x * len(kind)


@PATHS.add(X, **TRACING, what=r"'kind' is 'big'.*'small'", hint=r"(?i)one kind")
def strings_in_branches(x: Any) -> Any:
    kind = "small"
    if x > 0.5:
        kind = "big"
    return x * len(kind)  # <- here


@PATHS.add(X, **TRACING, what=r"'kind' is .*'float32'", hint=r"(?i)one kind")
def dtype_name_in_a_branch(x: Any) -> Any:
    kind = "float64"
    if x > 0.0:
        kind = "float32"
    return gt.cast(x, kind)  # <- here


@PATHS.add(X, **TRACING, what=r"'y' is .*tensor.*'none'", hint=r"(?i)one kind")
def text_and_tensor_in_branches(x: Any) -> Any:
    if x > 0.0:
        y = x
    else:
        y = "none"
    return gt.sin(y)  # <- here


@PATHS.add(V, **TRACING, what=r"'y' is .*rank", hint=r"(?i)rank")
def ranks_in_branches(v: Any) -> Any:
    if v[0] > 0.0:
        y = v
    else:
        y = gt.reduce_sum(v)
    return y * 2.0  # <- here


@PATHS.add(X, **TRACING, what=r"'f' is .*function", hint=r"(?i)one kind")
def functions_in_branches(x: Any) -> Any:
    f = gt.sin
    if x > 0.0:
        f = gt.cos
    return f(x)  # <- here


class Box:
    """An object without meaning to a trace."""

    def __init__(self, value: Any) -> None:
        self.value = value


@PATHS.add(X, **TRACING, what=r"'box' is an object of type Box", hint=r"(?i)one kind")
def objects_in_branches(x: Any) -> Any:
    if x > 0.0:
        box = Box(x)
    else:
        box = Box(-x)
    return box.value  # <- here


@PATHS.add(X, **TRACING, what=r"\breturn|result", hint=r"(?i)one kind|each path")
def results_of_different_structure(x: Any) -> Any:
    if x > 0.0:
        return x, x * 2.0
    return x  # <- here


@PATHS.add(X, **TRACING, what=r"result of the function.*None", hint=r"(?i)one kind")
def result_on_one_path_only(x: Any) -> Any:
    if x > 0.0:  # <- here
        return x * 2.0


LIST = r"(?i)list.*tensor before"


@PATHS.add(
    X, **TRACING, what=r"'parts' is a list of 2 entries.*of 1 entry\b", hint=LIST
)
def append_in_one_branch(x: Any) -> Any:
    parts = [x]
    if x > 0.0:  # <- here
        parts.append(x * 2.0)
    return sum(parts)


@PATHS.add(X, **TRACING, what=r"box\.value is a list", hint=LIST)
def append_to_an_attribute_in_one_branch(x: Any) -> Any:
    box = Box([x])
    if x > 0.0:  # <- here
        box.value.append(x * 2.0)
    return sum(box.value)


@PATHS.add(X, **TRACING, what=r"'parts' is a list of 2 entries.*3 entries", hint=LIST)
def pop_in_one_branch(x: Any) -> Any:
    parts = [x, x * 2.0, x * 3.0]
    if x > 0.0:  # <- here
        x = parts.pop()
    return x + sum(parts)


# --- Loops that do not settle ---------------------------------------------------------


@PATHS.add(X, 20, **TRACING, what=r"'parts' is a list of 1 entry", hint=LIST)
def append_under_a_condition(x: Any, n: int) -> Any:
    parts = []
    i = 0
    while i < n:
        x = gt.sin(x)
        if x > 0.1:  # <- here
            parts.append(x)
        i += 1
    return gt.reduce_sum(gt.stack(parts))


@PATHS.add(V, 20, **TRACING, what=r"'y'.*rank", hint=r"(?i)rank")
def rank_changes_in_a_loop(v: Any, n: int) -> Any:
    y = v
    while gt.reduce_sum(y) < n:
        y = gt.stack([y, y])  # <- here
    return gt.reduce_sum(y)


@PATHS.add(X, **TRACING, what=r"'y'.*None", hint=r"(?i)one kind|before the loop")
def none_before_a_loop(x: Any) -> Any:
    y = None
    while x < 3.0:
        y = x if y is None else y + x  # <- here
        x = x + 1.0
    return y


@PATHS.add(X, **TRACING, what=r"'name'", hint=r"(?i)one kind")
def text_grows_in_a_loop(x: Any) -> Any:
    name = ""
    while x < 3.0:
        name = name + "x"  # <- here
        x = x + 1.0
    return x * len(name)


@PATHS.add(X, **TRACING, what=r"'y'.*tuple|entries", hint=r"(?i)one kind")
def structure_changes_in_a_loop(x: Any) -> Any:
    y = (x,)
    while x < 3.0:
        y = (*y, x)  # <- here
        x = x + 1.0
    return y[0]


@PATHS.add(X, **TRACING, what=r"'parts' is a list of 3 entries.*2 entries", hint=LIST)
def pop_in_a_loop(x: Any) -> Any:
    parts = [x, x * 2.0, x * 3.0]
    while x < 3.0:  # <- here
        x = x + parts.pop()
    return x


@PATHS.add(X, **TRACING, what=r"entries .* appends to 'parts'", hint=r"(?i)tensors")
def append_of_text_in_a_loop(x: Any) -> Any:
    parts: list[Any] = []
    while x < 3.0:  # <- here
        parts.append("x")
        x = x + 1.0
    return x * len(parts)


# --- Attributes and entries -----------------------------------------------------------

ON_ALL_PATHS = r"(?i)on all paths"


@PATHS.add(X, **TRACING, what=r"^Box\.value is .*tensor.*None", hint=ON_ALL_PATHS)
def attribute_that_is_none_on_one_path(x: Any) -> Any:
    box = Box(None)
    if x > 0.0:
        box.value = x
    return box.value * 2.0  # <- here


@PATHS.add(X, **TRACING, what=r"^Box\.value is ''.*'x'", hint=ON_ALL_PATHS)
def attribute_that_is_a_text_that_grows(x: Any) -> Any:
    box = Box("")
    while x < 3.0:
        box.value = box.value + "x"  # <- here
        x = x + 1.0
    return len(box.value) * x


@PATHS.add(X, **TRACING, what=r"^the entry 'a' of a dict is .*None", hint=ON_ALL_PATHS)
def entry_that_is_none_on_one_path(x: Any) -> Any:
    table: dict[str, Any] = {"a": None}
    if x > 0.0:
        table["a"] = x
    return table["a"] * 2.0  # <- here


DICT = {**TRACING, "what": r"entry 'a' .*on some paths", "hint": ON_ALL_PATHS}


@PATHS.add(X, **DICT)
def length_of_a_dict_with_an_entry_on_one_path(x: Any) -> Any:
    table = {}
    if x > 0.0:
        table["a"] = x
    return len(table) * x  # <- here


@PATHS.add(X, **DICT)
def loop_over_a_dict_with_an_entry_on_one_path(x: Any) -> Any:
    table = {}
    if x > 0.0:
        table["a"] = x
    for _ in table:  # <- here
        x = x + 1.0
    return x


@PATHS.add(X, **DICT)
def values_of_a_dict_with_an_entry_on_one_path(x: Any) -> Any:
    table = {}
    if x > 0.0:
        table["a"] = x
    return sum(table.values())  # <- here


@PATHS.add(X, **DICT, source=False)
def result_with_an_entry_on_one_path(x: Any) -> Any:
    table = {}
    if x > 0.0:
        table["a"] = x
    return table


# --- Containers that a trace does not follow ------------------------------------------

USE_ANOTHER = r"(?i)list or dict"


@PATHS.add(X, **TRACING, what=r"^a set is changed in a branch", hint=USE_ANOTHER)
def set_changed_in_a_branch(x: Any) -> Any:
    seen = set()
    if x > 0.0:
        seen.add(1)  # <- here
    return len(seen) * x


@PATHS.add(X, **TRACING, what=r"^a set is changed in .*loop", hint=USE_ANOTHER)
def set_changed_in_a_loop(x: Any) -> Any:
    seen = {0}
    while x < 3.0:
        seen |= {1}  # <- here
        x = x + 1.0
    return len(seen) * x


@PATHS.add(X, **TRACING, what=r"^a deque is changed in a branch", hint=USE_ANOTHER)
def deque_changed_in_a_branch(x: Any) -> Any:
    queue = collections.deque([x])
    if x > 0.0:
        queue.popleft()  # <- here
    return len(queue) * x


@PATHS.add(X, **TRACING, what=r"^a defaultdict is changed in", hint=USE_ANOTHER)
def defaultdict_changed_in_a_branch(x: Any) -> Any:
    table: dict[str, float] = collections.defaultdict(float)
    if x > 0.0:
        table["a"] += 1.0  # <- here
    return table["a"] * x


# --- Handlers -------------------------------------------------------------------------

HANDLED = {
    **TRACING,
    "what": r"a name that is there on some paths only stands in a try",
    "hint": r"Test the condition",
}


@PATHS.add(X, **HANDLED)
def handled_error_of_a_branch(x: Any) -> Any:
    try:
        if x > 0.0:
            raise ValueError("positive")  # <- here
    except ValueError:
        x = -x
    return x


@PATHS.add(X, **HANDLED)
def handled_assertion(x: Any) -> Any:
    try:
        assert x < 0.0  # <- here
    except AssertionError:
        x = -x
    return x


@PATHS.add(V, **HANDLED)
def handled_error_of_a_function_in_a_loop(v: Any) -> Any:
    def check(x: Any) -> Any:
        if x < 0.0:
            raise ValueError("negative")  # <- here
        return x

    total = 0.0
    for x in v:
        try:
            total = total + check(x)
        except ValueError:
            total = total - x
    return total
