"""Why a gradient is `None`: what can be read from the record of a tape."""

from __future__ import annotations

from typing import Any, NamedTuple

from gtape.backprop import Link, Record
from gtape.errors import Mark, Origin, resolve

_MADE_OUTSIDE, _CONSTANT = -1, -2


class Explanation(NamedTuple):
    """Why a gradient is `None`.

    Args:
        reason: "connected", "integer", "not watched", "made before the tape",
            "rebound", "assigned", "left through NumPy", "stop_gradient", "no gradient",
            "other thread", "outside the tape" or "not used".
        text: A sentence that says what happened and what to do.
        origin: The user's line where the chain ends, where one is known.
    """

    reason: str
    text: str
    origin: Origin | None

    def __str__(self) -> str:
        return self.text


def explain(record: Record, target: Any, source: Any) -> Explanation:
    """Return why the gradient of a target by a source is `None`."""
    case = _Case(record, target, source)
    for check in (
        case.connected,
        case.integer_source,
        case.blocked,
        case.assigned,
        case.through_numpy,
        case.thread,
        case.unwatched,
        case.outside,
    ):
        found = check()
        if found is not None:
            return found
    return Explanation(
        "not used",
        f"The {case.target_name} does not depend on the {case.source_name}.",
        None,
    )


def _keys(out_keys: Any) -> tuple[int, ...]:
    return out_keys if isinstance(out_keys, tuple) else (out_keys,)


def _name(value: Any) -> str:
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return f"variable {name}"
    return f"tensor of shape {tuple(value.shape)}"


class _Case:
    """One question to a tape: what it saw, from the source and from the target."""

    def __init__(self, record: Record, target: Any, source: Any) -> None:
        self.record = record
        self.target, self.source = target, source
        self.target_name, self.source_name = _name(target), _name(source)
        links = [Link(*link) for link in (*record.links, *record.aside)]
        self.links = sorted(links, key=lambda link: _keys(link.out_keys)[0])
        self.upstream = self._upstream(target._key)
        self.follows = self._follows(source._key)

    def _upstream(self, key: int) -> set[int]:
        """The keys on which the target depends, by any operation."""
        found = {key}
        for link in reversed(self.links):
            if not found.isdisjoint(_keys(link.out_keys)):
                found.update(link.in_keys)
        return found

    def _follows(self, key: int) -> set[int]:
        """The keys that depend on the source, by any operation."""
        found = {key} if key > 0 else set()
        for link in self.links:
            if not found.isdisjoint(link.in_keys):
                found.update(_keys(link.out_keys))
        return found

    def _answer(self, reason: str, text: str, place: Mark | None) -> Explanation:
        if place is None:
            return Explanation(reason, text, None)
        at = resolve(place)
        return Explanation(reason, f"{text} (at {at})", at)

    def _first_use(self) -> Mark | None:
        key = self.source._key
        return next((link.place for link in self.links if key in link.in_keys), None)

    def _computed(self, sign: int) -> bool:
        """Whether an old key says: made by this thread, outside the tape."""
        return sign in (_MADE_OUTSIDE, -self.record.thread)

    def _made(self, key: int) -> Mark | None:
        """Where a value was made, as far as the tape saw."""
        return next((k.place for k in self.links if key in _keys(k.out_keys)), None)

    # --- The reasons, in the order in which they are asked ----------------------------

    def connected(self) -> Explanation | None:
        key = self.source._key
        if key not in self.record.known or not self.source.dtype.is_differentiable:
            return None
        reached = {key}
        for link in self.links:
            if reached.isdisjoint(link.in_keys) or not self._passes(link):
                continue
            reached.update(_keys(link.out_keys))
        if self.target._key not in reached:
            return None
        text = (
            f"The {self.target_name} depends on the {self.source_name}: the gradient "
            "exists."
        )
        return Explanation("connected", text, None)

    def _passes(self, link: Link) -> bool:
        return link.primitive.vjp is not None and link.kind in "fcV"

    def integer_source(self) -> Explanation | None:
        if self.source.dtype.is_differentiable:
            return None
        return self._answer(
            "integer",
            f"The {self.source_name} is {self.source.dtype}: only floating-point "
            "values have "
            "gradients. Write 1.0 for 1, or give it a float dtype",
            self._first_use(),
        )

    def blocked(self) -> Explanation | None:
        """There is a path, and an operation on it through which no gradient flows."""
        if (
            self.target._key not in self.follows
            or self.source._key not in self.record.known
        ):
            return None
        for link in self.links:
            keys = _keys(link.out_keys)
            on_path = not self.follows.isdisjoint(link.in_keys)
            if not on_path or self.upstream.isdisjoint(keys) or self._passes(link):
                continue
            return self._blocker(link)
        return None

    def _blocker(self, link: Link) -> Explanation:
        name = link.primitive.name
        if name == "stop_gradient":
            text = (
                "stop_gradient makes its result a constant; remove it where a gradient "
                "is wanted"
            )
            return self._answer("stop_gradient", text, link.place)
        if link.primitive.vjp is not None:
            text = (
                f"{name} gives an integer or bool: no gradient flows through such a "
                "value. Stay "
                "in floats"
            )
            return self._answer("integer", text, link.place)
        text = (
            f"{name} has no gradient: {link.primitive.why}. Use a smooth function in "
            "its place"
        )
        return self._answer("no gradient", text, link.place)

    def assigned(self) -> Explanation | None:
        """The source went into a variable, and the target comes from that variable."""
        for note in self.record.assignments:
            if note.value_key in self.follows and note.variable_key in self.upstream:
                return self._answer(
                    "assigned",
                    f"The value was assigned to variable {note.name}, and assignment "
                    "is not "
                    "differentiated. Compute with the value itself: w = w + a in place "
                    "of "
                    "w.assign_add(a)",
                    note.place,
                )
        return None

    def through_numpy(self) -> Explanation | None:
        if self.target._key in self.follows:
            return None
        for key, place in self.record.parted:
            if key in self.follows:
                return self._answer(
                    "left through NumPy",
                    "The value went to NumPy, where the tape cannot follow. Use the gt "
                    "function "
                    "of that name, and convert afterwards",
                    place,
                )
        return None

    def thread(self) -> Explanation | None:
        for link in self.links:
            if self.upstream.isdisjoint(_keys(link.out_keys)):
                continue
            signs = [self.record.named.get(k, 0) for k in link.in_keys]
            if any(s < _CONSTANT and s != -self.record.thread for s in signs):
                return self._answer(
                    "other thread",
                    "A value comes from another thread: a tape records the thread that "
                    "entered "
                    "it. Compute it in this one, or take its gradient there",
                    link.place,
                )
        return None

    def unwatched(self) -> Explanation | None:
        key = self.source._key
        if key in self.record.known:
            return None
        if hasattr(self.source, "trainable"):
            return self._unwatched_variable()
        before = self.record.named.get(key, key)
        if self._computed(before):
            return self._answer(
                "rebound",
                f"The {self.source_name} is not a variable but was computed before the "
                "tape, so "
                "it is not watched. If a statement such as s = s + 1 has rebound a "
                "variable's "
                "name, use s.assign_add(1); else call tape.watch",
                self._first_use(),
            )
        return self._answer(
            "not watched",
            f"The {self.source_name} is a constant, which tapes do not watch. Make it "
            "a "
            "gt.Variable, or call tape.watch",
            self._first_use() or self._made(key),
        )

    def _unwatched_variable(self) -> Explanation | None:
        use = self._first_use()
        if not self.source.trainable:
            return self._answer(
                "not watched",
                f"The {self.source_name} has trainable=False, so tapes do not watch "
                "it. Call "
                "tape.watch, or make it trainable",
                use,
            )
        if not self.record.watch_accessed:
            return self._answer(
                "not watched",
                "The tape has watch_accessed_variables=False, and the "
                f"{self.source_name} was "
                "not given to tape.watch",
                use,
            )
        return self._made_before()

    def _made_before(self) -> Explanation | None:
        for link in self.links:
            if self.upstream.isdisjoint(_keys(link.out_keys)):
                continue
            if any(self._computed(self.record.named.get(k, 0)) for k in link.in_keys):
                return self._answer(
                    "made before the tape",
                    "A value that was computed before the tape began to record is a "
                    "constant "
                    f"for it, and the {self.source_name} went into it, if at all, "
                    "there. Compute "
                    "it inside the block",
                    link.place,
                )
        return None

    def outside(self) -> Explanation | None:
        """The target itself was not computed while the tape recorded."""
        made = self._made(self.target._key)
        if made is None and self.target._key != self.source._key:
            return Explanation(
                "outside the tape",
                f"The {self.target_name} was not computed while the tape recorded. "
                "Compute it "
                "inside the block, and not in stop_recording.",
                None,
            )
        return self._made_before()
