"""DOT, the language of Graphviz, as all drawings use it."""

from __future__ import annotations


def quote(text: str) -> str:
    """Quote text for use as a name or a label."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
