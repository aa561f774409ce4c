"""Why a gradient is `None`: what can be read from the record of a tape."""

from __future__ import annotations

from typing import Any, NamedTuple

from gtape.errors import Mark, Origin, resolve
from gtape.record import LINK, Link, Note, Record

# What the key of a value said before the tape numbered it: made by an operation outside
# every tape, or from Python or NumPy. Below them stand signs of threads.
_MADE_OUTSIDE, _CONSTANT = -1, -2
_LITERAL = 0  # a number beside a tensor keeps this key


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
        case.unwatched,
        case.blocked,
        case.assigned,
        case.through_numpy,
        case.thread,
        case.made_before,
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
    name = getattr(value, "name", None) if _is_variable(value) else None
    if name is not None:
        return f"variable {name}"
    return f"tensor of shape {tuple(value.shape)}"


def _is_variable(value: Any) -> bool:
    return hasattr(type(value), "trainable")


class _Case:
    """One question to a tape: what it saw, from the source and from the target."""

    def __init__(self, record: Record, target: Any, source: Any) -> None:
        self.record = record
        self.target, self.source = target, source
        self.target_name, self.source_name = _name(target), _name(source)
        self.aside = {link[2] for link in record.aside}  # by out_keys
        entries = (*record.entries, *record.aside)
        links = [Link(*entry[LINK]) for entry in entries]
        self.links = sorted(links, key=lambda link: _keys(link.out_keys)[0])
        self.upstream = self._upstream(target._key)
        self.follows = self._follows(source._key)
        self.reached = self._reached(source._key)

    def _upstream(self, key: int) -> set[int]:
        """The keys on which the target depends, by any operation."""
        found = {key} if key > 0 else set()
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

    def _reached(self, key: int) -> set[int]:
        """The keys to which gradients flow back from, if the source is watched."""
        found = {key} if key > 0 else set()
        for link in self.links:
            if self._enters(link, found) and self._has_rule(link):
                kinds = zip(_keys(link.out_keys), link.kind, strict=True)
                found.update(k for k, kind in kinds if kind in "fcV")
        return found

    def _has_rule(self, link: Link) -> bool:
        return link.primitive.vjp is not None and link.out_keys not in self.aside

    def _enters(self, link: Link, found: set[int]) -> bool:
        """Whether a gradient by one of the keys is among those of an operation."""
        refused = self.record.refused
        return any(
            k in found and (link.out_keys, k) not in refused for k in link.in_keys
        )

    def _on_the_way(self) -> list[Link]:
        """The operations on which the target depends."""
        return [
            k for k in self.links if not self.upstream.isdisjoint(_keys(k.out_keys))
        ]

    def _answer(self, reason: str, text: str, place: Mark | None) -> Explanation:
        if place is None:
            return Explanation(reason, f"{text}.", None)
        at = resolve(place)
        return Explanation(reason, f"{text} (at {at})", at)

    def _first_use(self) -> Mark | None:
        key = self.source._key
        return next((link.place for link in self.links if key in link.in_keys), None)

    def _computed(self, sign: int) -> bool:
        """Whether an old key says: made by this thread, outside the tape."""
        return sign in (_MADE_OUTSIDE, -self.record.thread)

    def _foreign(self, sign: int) -> bool:
        """Whether an old key says: made by another thread."""
        return sign < _CONSTANT and sign != -self.record.thread

    def _sign(self, key: int) -> int:
        """What the key of a value said before the tape numbered it."""
        return self.record.named.get(key, key)

    def _not_recorded(self, key: int) -> bool:
        """Whether a value is the result of an operation that the tape did not see."""
        sign = self._sign(key)
        if sign <= 0:
            return self._computed(sign)
        return not (
            key in self.record.known
            or key in self.record.unwatched
            or any(key in _keys(link.out_keys) for link in self.links)
        )

    # --- The reasons, in the order in which they are asked ----------------------------

    def connected(self) -> Explanation | None:
        key = self.source._key
        itself = _is_variable(self.source) and self.target._key == key
        known = itself or key in self.record.known
        if not known or not self.source.dtype.is_differentiable:
            return None
        if self.target._key not in self.reached:
            return None
        return self._answer(
            "connected",
            f"The {self.target_name} depends on the {self.source_name}: the gradient "
            "exists",
            None,
        )

    def integer_source(self) -> Explanation | None:
        if self.source.dtype.is_differentiable:
            return None
        return self._answer(
            "integer",
            f"The {self.source_name} is {self.source.dtype}: only floating-point "
            "values have gradients. Write 1.0 for 1, or give it a float dtype",
            self._first_use(),
        )

    def unwatched(self) -> Explanation | None:
        """The target depends on the source, which the tape does not watch."""
        key = self.source._key
        if key in self.record.known or self.target._key not in self.follows:
            return None
        if _is_variable(self.source):
            return self._unwatched_variable()
        if self._computed(self._sign(key)):
            return self._answer(
                "rebound",
                f"The {self.source_name} is not a variable but was computed before the "
                "tape, so it is not watched. If a statement such as s = s + 1 has "
                "rebound a variable's name, use s.assign_add(1); else call tape.watch",
                self._first_use(),
            )
        return self._answer(
            "not watched",
            f"The {self.source_name} is no variable, and the tape was not asked to "
            "watch it. Make it a gt.Variable, or call tape.watch",
            self._first_use(),
        )

    def _unwatched_variable(self) -> Explanation:
        if self.source.trainable:
            text = (
                "The tape has watch_accessed_variables=False, and the "
                f"{self.source_name} was not given to tape.watch"
            )
        else:
            text = (
                f"The {self.source_name} has trainable=False, so tapes do not watch "
                "it. Call tape.watch, or make it trainable"
            )
        return self._answer("not watched", text, self._first_use())

    def blocked(self) -> Explanation | None:
        """There is a path, and an operation on it through which no gradient flows."""
        if self.target._key not in self.follows:
            return None
        for link in self.links:
            needed = self.upstream.intersection(_keys(link.out_keys))
            if not self.reached.isdisjoint(link.in_keys) and needed - self.reached:
                return self._blocker(link)
        return None

    def _blocker(self, link: Link) -> Explanation:
        name = link.primitive.name
        if link.out_keys in self.aside:
            text = f"The {self.source_name} was watched only after it had been used"
            return self._answer("not watched", text, link.place)
        if name == "stop_gradient":
            text = (
                "stop_gradient makes its result a constant; remove it where a gradient "
                "is wanted"
            )
            return self._answer("stop_gradient", text, link.place)
        if link.primitive.vjp is None:
            text = (
                f"{name} has no gradient: {link.primitive.why}. Use a smooth function "
                "in its place"
            )
            return self._answer("no gradient", text, link.place)
        if not self._enters(link, self.reached):
            text = (
                f"{name} has no gradient by this argument. Let the argument be a "
                "constant, or use another function"
            )
            return self._answer("no gradient", text, link.place)
        text = (
            f"{name} gives an integer or bool: no gradient flows through such a value. "
            "Stay in floats"
        )
        return self._answer("integer", text, link.place)

    def assigned(self) -> Explanation | None:
        """The source went into a variable, and the target comes from that variable."""
        note = self._assignments().get(self.target._key)
        if note is None:
            return None
        return self._answer(
            "assigned",
            f"The value was assigned to variable {note.name}, and assignment is not "
            "differentiated. Compute with the value itself: w = w + a in place of "
            "w.assign_add(a)",
            note.place,
        )

    def _assignments(self) -> dict[int, Note | None]:
        """What depends on the source, each with the first assignment on the way."""
        key = self.source._key
        found: dict[int, Note | None] = {key: None} if key > 0 else {}
        events: list[tuple[int, Any]] = [
            *[(_keys(link.out_keys)[0], link) for link in self.links],
            *[(note.number, note) for note in self.record.assignments],
        ]
        for _, event in sorted(events, key=lambda pair: pair[0]):
            if isinstance(event, Note):
                if event.value_key in found:
                    found[event.variable_key] = found[event.value_key] or event
                elif event.variable_key != key:
                    found.pop(event.variable_key, None)
                continue
            seen = [found[k] for k in event.in_keys if k in found]
            if seen:
                first = next((note for note in seen if note is not None), None)
                found.update(dict.fromkeys(_keys(event.out_keys), first))
        return found

    def through_numpy(self) -> Explanation | None:
        """The source's value left, and a constant made later is in the target."""
        left = [note for note in self.record.parted if note.value_key in self.follows]
        if not left:
            return None
        back = [
            _keys(link.out_keys)[0]
            for link in self._on_the_way()
            if any(self._sign(k) in (_LITERAL, _CONSTANT) for k in link.in_keys)
        ]
        if self._sign(self.target._key) == _CONSTANT:
            back.append(left[-1].number + 1)
        before = [note for note in left if back and note.number < back[-1]]
        if not before:
            return None
        return self._answer(
            "left through NumPy",
            "The value went to NumPy, where the tape cannot follow. Use the gt "
            "function of that name, and convert afterwards",
            before[-1].place,
        )

    def thread(self) -> Explanation | None:
        text = (
            "A value comes from another thread: a tape records the thread that entered "
            "it. Compute it in this one, or take its gradient there"
        )
        for link in self._on_the_way():
            if any(self._foreign(self._sign(k)) for k in link.in_keys):
                return self._answer("other thread", text, link.place)
        if self._foreign(self._sign(self.target._key)):
            return self._answer("other thread", text, None)
        return None

    def made_before(self) -> Explanation | None:
        """Something that was not recorded went into the target."""
        for link in self._on_the_way():
            if any(self._not_recorded(k) for k in link.in_keys):
                return self._answer(
                    "made before the tape",
                    "A value that was computed before the tape began to record, or "
                    "while it did not record, is a constant for it, and the "
                    f"{self.source_name} went into it, if at all, there. Compute it "
                    "inside the block",
                    link.place,
                )
        return None

    def outside(self) -> Explanation | None:
        """The target itself was not computed while the tape recorded."""
        if _is_variable(self.target) or not self._not_recorded(self.target._key):
            return None
        return self._answer(
            "outside the tape",
            f"The {self.target_name} was not computed while the tape recorded. Compute "
            "it inside the block, and not in stop_recording",
            None,
        )
