"""Shows indented paragraphs of docstrings as code.

Docstrings set code off by indentation alone, as Markdown does; reStructuredText wants `::` before.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def mark(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put `::` before every indented paragraph that follows one that is not indented."""
    marked: list[str] = []
    previous = " "  # the last line that was not empty
    for line in lines:
        is_new = bool(marked) and not marked[-1].strip()
        if is_new and line.startswith("    ") and not previous.startswith((" ", ":", "..")):
            marked += ["::", ""]
        marked.append(line)
        previous = line if line.strip() else previous
    lines[:] = marked


def setup(app: Sphinx) -> dict[str, bool]:
    """Mark before napoleon reads the sections of a docstring."""
    app.connect("autodoc-process-docstring", mark, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
