"""`match` as a chain of `if`s.

Each pattern becomes a test without side effects and a list of names to bind. Class and
mapping patterns keep Python's own `match`, which only chooses the number of the case.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field

from gtape.jit.syntax.nodes import (
    Numbers,
    all_of,
    assign,
    constant,
    hook,
    load,
    placed,
    statements,
)


@dataclass
class _Pattern:
    """What a pattern asks and binds."""

    tests: list[ast.expr] = field(default_factory=list)
    names: dict[str, ast.expr] = field(default_factory=dict)


def lower(node: ast.Match, numbers: Numbers) -> list[ast.stmt]:
    """Return statements with the meaning of a `match`, its bodies unchanged."""
    native = (ast.MatchClass, ast.MatchMapping)
    if any(isinstance(part, native) for case in node.cases for part in ast.walk(case)):
        return _numbered(node, numbers)
    subject = numbers.name("subject")
    chain: list[ast.stmt] = []
    for case in reversed(node.cases):
        chain = _case(case, subject, chain, numbers)
    return [*statements([assign(subject, node.subject)], node.subject), *chain]


def _case(
    case: ast.match_case, subject: str, rest: list[ast.stmt], numbers: Numbers
) -> list[ast.stmt]:
    """Return one case and, behind it, the chain of those after it."""
    pattern = _parsed(case.pattern, load(subject))
    bindings = [assign(name, value) for name, value in pattern.names.items()]
    before: list[ast.stmt] = []
    tests = pattern.tests
    if case.guard is not None and bindings:
        # The guard sees the names, and they stay bound if it says no.
        matched = numbers.name("matched")
        inner: list[ast.stmt] = [*copy.deepcopy(bindings), assign(matched, case.guard)]
        if tests:
            before = [
                assign(matched, constant(False)),
                ast.If(all_of(tests), inner, []),
            ]
        else:
            before = inner
        tests = [load(matched)]
    elif case.guard is not None:
        tests = [*tests, case.guard]
    body = [*statements(bindings, case.pattern), *case.body]
    if tests:
        body = [ast.If(all_of(tests), body, rest)]
    return statements([*before, *body], case.pattern)


def _numbered(node: ast.Match, numbers: Numbers) -> list[ast.stmt]:
    """Let Python choose the case, then run its body under an `if`."""
    chosen = numbers.name("case")
    chain: list[ast.stmt] = []
    cases: list[ast.match_case] = []
    for number, case in reversed(list(enumerate(node.cases))):
        test = ast.Compare(load(chosen), [ast.Eq()], [constant(number)])
        chain = statements([ast.If(test, case.body, chain)], case.pattern)
        choice = statements([assign(chosen, constant(number))], case.pattern)
        cases.insert(0, ast.match_case(case.pattern, case.guard, [*choice]))
    start = placed(assign(chosen, constant(None)), node.subject)
    return [start, placed(ast.Match(node.subject, cases), node), *chain]


def _parsed(pattern: ast.pattern, subject: ast.expr) -> _Pattern:
    """Return the test and the names of a pattern.

    Args:
        pattern: The pattern.
        subject: An expression without side effects, to be copied at every use.
    """
    found = _Pattern()
    match pattern:
        case ast.MatchValue(value):
            test = ast.Compare(copy.deepcopy(subject), [ast.Eq()], [value])
            found.tests.append(placed(test, pattern))
        case ast.MatchSingleton(value):
            right = constant(value)
            test = ast.Compare(copy.deepcopy(subject), [ast.Is()], [right])
            found.tests.append(placed(test, pattern))
        case ast.MatchAs(inner, name):
            if inner is not None:
                found = _parsed(inner, subject)
            if name is not None:
                found.names[name] = copy.deepcopy(subject)
        case ast.MatchOr(choices):
            found = _either([_parsed(choice, subject) for choice in choices])
        case ast.MatchSequence(parts):
            found = _sequence(parts, subject)
    return found


def _either(choices: list[_Pattern]) -> _Pattern:
    *firsts, last = choices
    found = _Pattern(names=last.names)
    if all(choice.tests for choice in choices):
        found.tests = [ast.BoolOp(ast.Or(), [all_of(one.tests) for one in choices])]
    for choice in reversed(firsts):
        # All choices bind the same names; which value, the tests say once more.
        for name, value in found.names.items():
            test = copy.deepcopy(all_of(choice.tests))
            found.names[name] = ast.IfExp(test, choice.names[name], value)
    return found


def _sequence(parts: list[ast.pattern], subject: ast.expr) -> _Pattern:
    stars = [i for i, part in enumerate(parts) if isinstance(part, ast.MatchStar)]
    before = stars[0] if stars else len(parts)
    after = len(parts) - before - len(stars)
    form = [constant(before), constant(bool(stars)), constant(after)]
    length = constant(before + after)
    is_sequence = hook(
        "is_sequence", copy.deepcopy(subject), length, constant(bool(stars))
    )
    found = _Pattern(tests=[is_sequence])
    for i, part in enumerate(parts):
        # Unpacked anew at each use: nothing has to be bound before the test is over.
        items = hook("unpack", copy.deepcopy(subject), *copy.deepcopy(form))
        if isinstance(part, ast.MatchStar):
            if part.name is not None:
                whole = ast.List([ast.Starred(items, ast.Load())], ast.Load())
                end = constant(-after) if after else None
                rows = ast.Slice(constant(before), end)
                found.names[part.name] = ast.Subscript(whole, rows, ast.Load())
            continue
        index = i if i < before else i - len(parts)
        one = ast.Subscript(items, constant(index), ast.Load())
        inner = _parsed(part, one)
        found.tests += inner.tests
        found.names |= inner.names
    return found
