"""Everything that Tamis raises.

    TamisError
    ├── SelectorError             a selector that Tamis refuses
    │   ├── SelectorSyntaxError   the text is not a selector
    │   ├── SelectorTypeError     the schema makes it meaningless
    │   └── SelectorTooDeep       nested beyond what is accepted
    ├── UnsupportedExpression     a good selector that this engine cannot take
    ├── SchemaError               a schema that makes no sense, or one that is needed and missing
    ├── EventError                an event that cannot be judged
    ├── FunctionError             a function of the caller's that failed
    ├── SubscriptionError         an id or priority that cannot be used
    │   ├── DuplicateSubscription
    │   └── UnknownSubscription
    ├── IndexCorrupt              an index on disk that is damaged, or of another format
    ├── IndexLocked               an index on disk that another writer has open
    ├── InputError                a file, a row or an option that cannot be read
    ├── LoopError                 a link between brokers that would close a loop
    └── BrokerError               a broker, or NATS, that refuses or cannot be reached

Every error carries its parts as attributes, so that a program need not read the message.
"""

from __future__ import annotations

__all__ = [
    "BrokerError",
    "DuplicateSubscription",
    "EventError",
    "FunctionError",
    "IndexCorrupt",
    "IndexLocked",
    "InputError",
    "LoopError",
    "SchemaError",
    "SelectorError",
    "SelectorSyntaxError",
    "SelectorTooDeep",
    "SelectorTypeError",
    "SubscriptionError",
    "TamisError",
    "UnknownSubscription",
    "UnsupportedExpression",
]

# A selector may be megabytes long and on one line: a message shows this much around the fault.
_SHOWN_BEFORE = 60
_SHOWN_AFTER = 40


def shorten(text: str, width: int = 60) -> str:
    """Text as it goes into a message: what people send may be megabytes long."""
    return text if len(text) <= width else text[:width] + "…"


class TamisError(Exception):
    """The root: `except TamisError` catches whatever Tamis means to raise."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by fields: errors travel from Spark workers, and __init__ takes more than args."""
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(
    kind: type[TamisError], args: tuple[object, ...], fields: dict[str, object]
) -> TamisError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class SelectorError(TamisError):
    """A selector that Tamis refuses: what, where, and how to mend it.

    Attributes:
        reason: What is wrong.
        hint: How to mend it; may be empty.
        text: The whole selector.
        start: Where the fault begins, as an offset into the text.
        end: Where it ends (exclusive).
        line: The line of `start`, from 1.
        column: The column of `start`, from 1.
    """

    def __init__(self, reason: str, text: str, start: int, end: int, hint: str = "") -> None:
        """Locate the fault and draw it."""
        self.reason = reason
        self.hint = hint
        self.text = text
        self.start = min(start, len(text))
        self.end = max(min(end, len(text)), self.start)
        self.line = text.count("\n", 0, self.start) + 1
        self.column = self.start - text.rfind("\n", 0, self.start)
        super().__init__(self._render())

    def _render(self) -> str:
        line_start = self.start - self.column + 1
        line_end = self.text.find("\n", self.start)
        line_end = len(self.text) if line_end < 0 else line_end
        left = max(line_start, self.start - _SHOWN_BEFORE)
        right = min(line_end, self.start + _SHOWN_AFTER)
        before = "…" if left > line_start else ""
        after = "…" if right < line_end else ""
        # Control characters would move the caret off its place, or the cursor off the screen.
        shown = "".join(
            c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in self.text[left:right]
        )
        carets = "^" * max(1, min(self.end, right) - self.start)
        drawn = [
            f"{self.reason} (line {self.line}, column {self.column})",
            f"  {before}{shown}{after}",
            "  " + " " * (self.start - left + len(before)) + carets,
        ]
        if self.hint:
            drawn.append(f"  {self.hint}")
        return "\n".join(drawn)


class SelectorSyntaxError(SelectorError):
    """The text is not a selector."""


class SelectorTypeError(SelectorError):
    """The schema says that this could never be true or false."""


class SelectorTooDeep(SelectorError):
    """The selector nests deeper than Tamis accepts."""


class UnsupportedExpression(TamisError):
    """A good selector that this engine cannot take; the engine is unchanged.

    Attributes:
        construct: What it cannot express, e.g. "sequence".
        engine: The engine's name.
    """

    def __init__(self, construct: str, engine: str, hint: str = "") -> None:
        """Name the construct and the engine."""
        self.construct = construct
        self.engine = engine
        self.hint = hint
        message = f"engine {engine!r} cannot express {construct}"
        super().__init__(f"{message}; {hint}" if hint else message)


class SchemaError(TamisError):
    """A schema that makes no sense, or one that is needed and missing.

    Attributes:
        reason: What is wrong.
        attribute: The attribute it is about; may be empty.
    """

    def __init__(self, reason: str, attribute: str = "") -> None:
        """Say what is wrong with the schema."""
        self.reason = reason
        self.attribute = attribute
        super().__init__(f"attribute {attribute!r}: {reason}" if attribute else reason)


class EventError(TamisError):
    """An event that cannot be judged.

    Attributes:
        reason: What is wrong.
        event: Its position in its batch (from 0), or None.
        attribute: The attribute at fault; may be empty.
    """

    def __init__(self, reason: str, event: int | None = None, attribute: str = "") -> None:
        """Say which event, which attribute, and why."""
        self.reason = reason
        self.event = event
        self.attribute = attribute
        where = "" if event is None else f"event {event}: "
        what = f"attribute {attribute!r}: " if attribute else ""
        super().__init__(f"{where}{what}{reason}")


class FunctionError(TamisError):
    """A function of the caller's that failed; what it raised is the `__cause__`.

    Attributes:
        name: The function's name.
        arguments: What it was called with.
        reason: What it raised, or what is wrong with what it gave.
    """

    def __init__(self, name: str, arguments: tuple[object, ...], reason: str) -> None:
        """Say which function failed, on what, and how."""
        self.name = name
        self.arguments = arguments
        self.reason = reason
        shown = ", ".join(shorten(repr(argument)) for argument in arguments)
        super().__init__(
            f"{name}({shown}) {reason}; a function that has no answer returns None, which is NULL"
        )


class SubscriptionError(TamisError):
    """An id or priority that cannot be used.

    Attributes:
        reason: What is wrong.
        id: The subscription's id, as it was given.
    """

    def __init__(self, reason: str, id: object) -> None:
        """Say which subscription and why."""
        self.reason = reason
        self.id = id
        super().__init__(f"subscription {id!r}: {reason}")


class DuplicateSubscription(SubscriptionError):
    """An id that is taken already."""

    def __init__(self, id: object) -> None:
        """Name the id."""
        super().__init__("is there already; use replace() to change it", id)


class UnknownSubscription(SubscriptionError, KeyError):
    """An id that nobody added."""

    def __init__(self, id: object) -> None:
        """Name the id."""
        super().__init__("is not here", id)

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class IndexCorrupt(TamisError):
    """An index on disk that is damaged, or of a format that this Tamis does not know.

    Attributes:
        path: The file that is wrong.
        reason: What is wrong with it.
    """

    def __init__(self, path: object, reason: str) -> None:
        """Name the file and what is wrong with it."""
        self.path = str(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")


class IndexLocked(TamisError):
    """An index on disk that another writer has open; readers need no lock.

    Attributes:
        path: The index.
    """

    def __init__(self, path: object) -> None:
        """Name the index."""
        self.path = str(path)
        super().__init__(f"{self.path}: another writer has it open; close that one first")


class InputError(TamisError):
    """A file, a row or an option that cannot be read.

    Attributes:
        reason: What is wrong.
        source: The file or option it is about.
        line: The line or row in it, from 1, or None.
    """

    def __init__(self, reason: str, source: str = "", line: int | None = None) -> None:
        """Say where and why."""
        self.reason = reason
        self.source = source
        self.line = line
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {reason}" if where else reason)


class LoopError(TamisError):
    """A link between brokers that would close a loop, in which events would go round for ever.

    Attributes:
        one: A broker that was to be linked.
        other: The other.
        way: The brokers from the one to the other as they are linked already, both among them.
    """

    def __init__(self, one: str, other: str, way: list[str]) -> None:
        """Say which way there is already."""
        self.one = one
        self.other = other
        self.way = way
        shown = " - ".join(self.way)
        super().__init__(
            f"linking {one} to {other} would close a loop: there is {shown} already"
            if one != other
            else f"{one} cannot be linked to itself"
        )


class BrokerError(TamisError):
    """A broker, or NATS, that refuses a request or cannot be reached.

    Attributes:
        reason: What is wrong.
        code: The kind of it in a word, such as "limit" or "unreachable"; see
            docs/reference/protocol.md.
    """

    def __init__(self, reason: str, code: str = "") -> None:
        """Say what is wrong."""
        self.reason = reason
        self.code = code
        super().__init__(reason)
