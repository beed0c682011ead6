"""The exceptions that Tamis raises.

    TamisError
    ├── SelectorError             a selector that Tamis rejects
    │   ├── SelectorSyntaxError   the text is not a selector
    │   ├── SelectorTypeError     by the schema it can never be true or false
    │   └── SelectorTooDeep       it nests too deep
    ├── UnsupportedExpression     a valid selector that this engine cannot express
    ├── SchemaError               an invalid schema, or a required one that is missing
    ├── EventError                an event that cannot be evaluated
    ├── FunctionError             a user-defined function that failed
    ├── SubscriptionError         an id or priority that cannot be used
    │   ├── DuplicateSubscription
    │   └── UnknownSubscription
    ├── IndexCorrupt              an index on disk that is damaged, or of another format
    ├── IndexLocked               an index on disk that another writer has open
    ├── InputError                a file, a row or an option that cannot be read
    ├── LoopError                 a link between brokers that would close a loop
    └── BrokerError               a broker, or NATS, that refuses or cannot be reached

Every error carries its parts as attributes, so that a program need not parse the message.
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

# A selector may be megabytes long and on one line: a message shows this many characters around the
# fault.
_SHOWN_BEFORE = 60
_SHOWN_AFTER = 40


def shorten(text: str, width: int = 60) -> str:
    """Shorten text for a message: input may be megabytes long."""
    return text if len(text) <= width else text[:width] + "…"


class TamisError(Exception):
    """The base class: `except TamisError` catches every error that Tamis raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by fields: Spark workers send errors, and __init__ takes more than `args`."""
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(
    kind: type[TamisError], args: tuple[object, ...], fields: dict[str, object]
) -> TamisError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class SelectorError(TamisError):
    """A selector that Tamis rejects: what is wrong, where, and how to fix it.

    Attributes:
        reason: What is wrong.
        hint: How to fix it; may be empty.
        text: The whole selector.
        start: Where the fault begins, as an offset into the text.
        end: Where it ends (exclusive).
        line: The line of `start`, from 1.
        column: The column of `start`, from 1.
    """

    def __init__(self, reason: str, text: str, start: int, end: int, hint: str = "") -> None:
        """Locate the fault and render the message with carets below it."""
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
        # Control characters would misplace the carets, or move the cursor.
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
    """By the schema, the selector can never be true or false."""


class SelectorTooDeep(SelectorError):
    """The selector nests deeper than Tamis accepts."""


class UnsupportedExpression(TamisError):
    """A valid selector that this engine cannot express; the engine is unchanged.

    Attributes:
        construct: What the engine cannot express, e.g. "sequence".
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
    """An invalid schema, or a required one that is missing.

    Attributes:
        reason: What is wrong.
        attribute: The attribute at fault; may be empty.
    """

    def __init__(self, reason: str, attribute: str = "") -> None:
        """Take the reason and, if one is at fault, the attribute."""
        self.reason = reason
        self.attribute = attribute
        super().__init__(f"attribute {attribute!r}: {reason}" if attribute else reason)


class EventError(TamisError):
    """An event that cannot be evaluated.

    Attributes:
        reason: What is wrong.
        event: Its position in its batch (from 0), or None.
        attribute: The attribute at fault; may be empty.
    """

    def __init__(self, reason: str, event: int | None = None, attribute: str = "") -> None:
        """Take the reason, and which event and attribute are at fault."""
        self.reason = reason
        self.event = event
        self.attribute = attribute
        where = "" if event is None else f"event {event}: "
        what = f"attribute {attribute!r}: " if attribute else ""
        super().__init__(f"{where}{what}{reason}")


class FunctionError(TamisError):
    """A user-defined function that failed; the exception it raised is the `__cause__`.

    Attributes:
        name: The function's name.
        arguments: The arguments of the call.
        reason: What it raised, or what is wrong with the value it returned.
    """

    def __init__(self, name: str, arguments: tuple[object, ...], reason: str) -> None:
        """Take the function, the arguments of the call, and what went wrong."""
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
        id: The subscription's id, as given.
    """

    def __init__(self, reason: str, id: object) -> None:
        """Take the reason and the id."""
        self.reason = reason
        self.id = id
        super().__init__(f"subscription {id!r}: {reason}")


class DuplicateSubscription(SubscriptionError):
    """An id that is already in use."""

    def __init__(self, id: object) -> None:
        """Take the id."""
        super().__init__("already exists; use replace() to change it", id)


class UnknownSubscription(SubscriptionError, KeyError):
    """An id without a subscription."""

    def __init__(self, id: object) -> None:
        """Take the id."""
        super().__init__("does not exist", id)

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class IndexCorrupt(TamisError):
    """An index on disk that is damaged, or of a format that this version cannot read.

    Attributes:
        path: The file at fault.
        reason: What is wrong with it.
    """

    def __init__(self, path: object, reason: str) -> None:
        """Take the file and the reason."""
        self.path = str(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")


class IndexLocked(TamisError):
    """An index on disk that another writer has open; readers need no lock.

    Attributes:
        path: The index.
    """

    def __init__(self, path: object) -> None:
        """Take the path of the index."""
        self.path = str(path)
        super().__init__(f"{self.path}: another writer has it open; close it there first")


class InputError(TamisError):
    """A file, a row or an option that cannot be read.

    Attributes:
        reason: What is wrong.
        source: The file or option at fault; may be empty.
        line: The line or row in it, from 1, or None.
    """

    def __init__(self, reason: str, source: str = "", line: int | None = None) -> None:
        """Take the reason and the place."""
        self.reason = reason
        self.source = source
        self.line = line
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {reason}" if where else reason)


class LoopError(TamisError):
    """A link between brokers that would close a loop, in which events would circulate for ever.

    Attributes:
        one: One of the brokers to be linked.
        other: The other.
        way: The existing path between the two: their names and those of the brokers between them.
    """

    def __init__(self, one: str, other: str, way: list[str]) -> None:
        """Take the two brokers and the existing path."""
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
        code: The kind of error in one word, such as "limit" or "unreachable"; see
            docs/reference/protocol.md.
    """

    def __init__(self, reason: str, code: str = "") -> None:
        """Take the reason and its code."""
        self.reason = reason
        self.code = code
        super().__init__(reason)
