"""Selectors as trees: drawn for people (`draw_tree`), and as JSON (`as_dict`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from tamis.language import expr as e
from tamis.language.printer import literal_text
from tamis.paths import path_text
from tamis.values import Type, plain_value


def draw_tree(expr: e.Expr) -> list[str]:
    """Return the tree as lines, one per node, children indented below their parent."""
    label = _LABELS.get(type(expr))
    # The class names of AND, OR, XOR, NOT, BETWEEN and IN are their keywords.
    lines = [label(expr) if label else type(expr).__name__.upper()]
    parts = [draw_tree(child) for child in e.children(expr)]
    if isinstance(expr, e.Sequence) and expr.per:
        parts[-1] = [f"PER {path_text(expr.per.path)}"]
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        lines.append(("└─ " if last else "├─ ") + part[0])
        lines.extend(("   " if last else "│  ") + line for line in part[1:])
    return lines


def as_dict(expr: e.Expr) -> dict[str, object]:
    """Return the node's class and fields as JSON can hold them."""
    named = {field.name: getattr(expr, field.name) for field in fields(expr)}
    return {
        "node": type(expr).__name__,
        **{
            name: _plain_field(value)
            for name, value in named.items()
            if name not in ("start", "end") and not callable(value)
        },
    }


def _plain_field(value: object) -> object:
    if isinstance(value, e.Node):
        return as_dict(value)  # type: ignore[arg-type]
    if isinstance(value, tuple):
        return [_plain_field(element) for element in value]
    return value.value if isinstance(value, Type) else plain_value(value)


def _literal(expr: e.Literal) -> str:
    text = literal_text(expr.value)
    # TIMESTAMP '…' and NULL show their type already.
    return text if expr.type in (None, Type.TIMESTAMP) else f"{text} {expr.type.value}"


def _like(expr: e.Like) -> str:
    escape = "" if expr.escape == "\\" else f" ESCAPE {literal_text(expr.escape)}"
    return f"{'ILIKE' if expr.ignore_case else 'LIKE'} {literal_text(expr.pattern)}{escape}"


def _sequence(expr: e.Sequence) -> str:
    within = "" if expr.within is None else f" WITHIN {expr.within / 1e6:g} SECONDS"
    return f"FIRST … THEN{within}"


_LABELS: dict[type, Callable[..., str]] = {
    e.Attribute: lambda x: path_text(x.path),
    e.Literal: _literal,
    e.Arithmetic: lambda x: x.op,
    e.Negate: lambda x: "-",
    e.Call: lambda x: x.function,
    e.Custom: lambda x: x.name,
    e.Comparison: lambda x: x.op,
    e.Like: _like,
    e.RLike: lambda x: f"RLIKE {literal_text(x.pattern)}",
    e.StringTest: lambda x: x.function,
    e.ArrayContains: lambda x: "array_contains",
    e.IsNull: lambda x: "IS NULL",
    e.AtLeast: lambda x: f"AT LEAST {x.k} OF",
    e.Sequence: _sequence,
}
