"""Collects small functions with the arguments to try them on."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A function and the argument tuples it is called with."""

    function: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...]

    @property
    def name(self):
        return self.function.__name__


class Corpus:
    """Cases in the order of their definition, and what they said while running."""

    def __init__(self):
        self.cases = []
        self.said = []

    def on(self, *calls):
        """Enter the decorated function, to be called with each tuple of arguments."""

        def enter(function):
            self.cases.append(Case(function, calls))
            return function

        return enter

    def say(self, *values):
        """Note values, as a side effect whose order counts; return the last one."""
        self.said.append(values)
        return values[-1] if values else None


CORPUS = Corpus()
on = CORPUS.on
say = CORPUS.say


@contextlib.contextmanager
def saying(name, swallow=()):
    """A context manager that says what happens to it, and may end exceptions."""
    say("enter", name)
    try:
        yield name
    except swallow as error:
        say("swallow", type(error).__name__)
    finally:
        say("exit", name)


class Box:
    """An object with attributes and items whose uses are said."""

    def __init__(self, **values):
        object.__setattr__(self, "values", dict(values))

    def __repr__(self):
        return f"Box({self.values})"

    def __getattr__(self, name):
        values = object.__getattribute__(self, "__dict__").get("values", {})
        if name not in values:
            raise AttributeError(name)
        say("get", name)
        return values[name]

    def __setattr__(self, name, value):
        say("set", name, value)
        self.values[name] = value

    def __delattr__(self, name):
        say("delete", name)
        del self.values[name]

    def __getitem__(self, key):
        say("item", key)
        return self.values[key]

    def __setitem__(self, key, value):
        say("set item", key, value)
        self.values[key] = value

    def __delitem__(self, key):
        say("delete item", key)
        del self.values[key]
