"""Removal of the files of unfinished commits."""

from __future__ import annotations

import re
from pathlib import Path

from tamis.storage.store.durable_files import UNFINISHED, remove
from tamis.storage.store.manifest import CURRENT, Manifest

# Only files that a store creates: files that users put beside them are kept.
_OURS = re.compile(
    rf"(segment|removed|log|manifest)-\d{{6,}}({re.escape(UNFINISHED)})?"
    rf"|{CURRENT}{re.escape(UNFINISHED)}"
)


def remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """Remove the files that do not belong to the current version. Only the writer may call it."""
    kept = manifest.files
    for path in list(folder.iterdir()):
        if _OURS.fullmatch(path.name) and path.name not in kept:
            remove(path)
