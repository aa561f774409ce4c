"""`Module`: an object that finds the variables and modules among its attributes."""

from __future__ import annotations

import contextlib
import functools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from gtape import nest
from gtape.dispatch import services
from gtape.errors import ArgumentError
from gtape.variable import Variable, name_scope

M = TypeVar("M", bound="Module")
P = ParamSpec("P")
R = TypeVar("R")


class Module:
    """The base of models and layers: it lists the variables that its attributes hold.

    Attributes are searched in the order of their names, and in them lists, tuples and
    dicts. A module's own variables come first, then those of each module it holds. What
    can be reached twice is listed once. A subclass need not call `super().__init__()`.

    Args:
        name: A label, which must be an identifier; by default that of the class in
            snake_case.

    Raises:
        ArgumentError: If the name is not an identifier.

    Example:
        >>> import gtape as gt
        >>> class LinearLayer(gt.Module):
        ...     def __init__(self, inputs, outputs):
        ...         self.weights = gt.Variable(gt.zeros([inputs, outputs]))
        ...         self.bias = gt.Variable(gt.zeros([outputs]))
        ...
        ...     def __call__(self, x):
        ...         return x @ self.weights + self.bias
        >>> layer = LinearLayer(3, 2)
        >>> layer.name, [tuple(v.shape) for v in layer.trainable_variables]
        ('linear_layer', [(2,), (3, 2)])
    """

    def __init__(self, name: str | None = None) -> None:
        if name is not None and not (isinstance(name, str) and name.isidentifier()):
            raise ArgumentError(
                f"Module: the name {name!r} is not an identifier",
                "Use letters, digits and _, and no digit first",
            )
        self._name = name

    @property
    def name(self) -> str:
        """The label."""
        given: str | None = vars(self).get("_name")
        return _snake_case(type(self).__name__) if given is None else given

    @property
    def name_scope(self) -> contextlib.AbstractContextManager[str]:
        """A block in which variables get the module's name before their own."""
        return name_scope(self.name)

    @staticmethod
    def with_name_scope(
        method: Callable[Concatenate[M, P], R],
    ) -> Callable[Concatenate[M, P], R]:
        """Decorate a method to run in the module's name scope.

        Args:
            method: A method of a module.

        Example:
            >>> import gtape as gt
            >>> class Scale(gt.Module):
            ...     @gt.Module.with_name_scope
            ...     def build(self):
            ...         self.factor = gt.Variable(2.0, name="factor")
            >>> scale = Scale()
            >>> scale.build()
            >>> scale.factor.name
            'scale/factor:0'
        """

        @functools.wraps(method)
        def wrapper(self: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return wrapper

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of the module and of the modules in it."""
        return tuple(_found(self, lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those variables that tapes watch by themselves."""
        return tuple([v for v in self.variables if v.trainable])

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The other variables."""
        return tuple([v for v in self.variables if not v.trainable])

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules in the module, and those in them."""
        return tuple(_found(self, lambda leaf: isinstance(leaf, Module)))


def _found(module: Module, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """Give what is wanted among the attributes of a module, each once."""
    traced = services()
    if traced is not None:
        traced.depends_on(module, f"what {module.name} holds", _Holdings(module).read)
    return _search(module, wanted, {id(module)})


class _Holdings:
    """The variables and modules in a module, for a trace that holds while they stay.

    Args:
        module: The module.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._found: list[Any] = []
        self._containers: list[tuple[Any, list[Any]]] = []  # with what was in them

    def read(self) -> list[Any]:
        """Return them: the same list as before where nothing has changed."""
        if self._containers and all(
            _same(_entries(container), before) for container, before in self._containers
        ):
            return self._found  # nearly always, and soon known
        self._containers = [(c, _entries(c)) for c in _containers(self._module)]
        found = [self._module, *_search(self._module, lambda leaf: True, set())]
        if not _same(found, self._found):
            self._found = found
        return self._found


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(map(operator.is_, a, b))


def _entries(container: Any) -> list[Any]:
    """Return what is in a dict or list, keys included."""
    if isinstance(container, list):
        return container.copy()
    return [*container, *container.values()]


def _containers(module: Module) -> list[Any]:
    """Return all that can change in a module: attributes, and entries of containers."""
    out: list[Any] = []
    seen: set[int] = set()
    stack: list[Any] = [module]
    while stack:
        owner = stack.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        held = vars(owner) if isinstance(owner, Module) else owner
        if not isinstance(held, tuple):
            out.append(held)
        values = held.values() if isinstance(held, Mapping) else held
        stack += [x for x in values if isinstance(x, (Module, list, tuple, Mapping))]
    return out


def _search(
    module: Module, wanted: Callable[[Any], bool], seen: set[int]
) -> Iterator[Any]:
    inner = []
    for name in sorted(vars(module)):
        for leaf in nest.flatten(vars(module)[name]):
            if not isinstance(leaf, (Variable, Module)) or id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if wanted(leaf):
                yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    for leaf in inner:
        yield from _search(leaf, wanted, seen)


def _snake_case(name: str) -> str:
    """Return a class name in snake_case: "HTTPServer2" gives "http_server2"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
