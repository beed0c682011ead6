"""Fails the build if a page would load anything from another host when it is viewed."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# Links that a reader may follow are fine; what a browser loads by itself is not.
_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object|input)\b[^>]*?"
    r"\b(?:src|srcset|data)=[\"']?(?:https?:)?//[^\s>]+"
    r"|<link\b(?![^>]*\brel=[\"'](?:canonical|author|help|next|prev)[\"'])[^>]*?"
    r"\bhref=[\"']?(?:https?:)?//[^\s>]+",
    re.IGNORECASE,
)
_LOADED_BY_STYLE = re.compile(
    r"(?:url\(\s*|@import\s+)[\"']?(?:https?:)?//[^\s)\"';]+", re.IGNORECASE
)


def check(app: Sphinx, error: Exception | None) -> None:
    """Look through all pages and style sheets that were written."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    found = [
        f"{path.relative_to(out)}: {hit}"
        for path in sorted(out.rglob("*"))
        if (pattern := {".html": _LOADED, ".css": _LOADED_BY_STYLE}.get(path.suffix))
        for hit in pattern.findall(path.read_text("utf-8"))
    ]
    if found:
        raise ExtensionError("pages load from other hosts:\n" + "\n".join(found))


def setup(app: Sphinx) -> dict[str, bool]:
    """Check at the end of a build."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
