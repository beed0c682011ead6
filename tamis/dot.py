"""What all drawings share: Graphviz's language, DOT."""

from __future__ import annotations


def quote(text: str) -> str:
    """A text as a name or a label."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
