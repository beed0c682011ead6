"""What a commit that did not finish left behind."""

from __future__ import annotations

import re
from pathlib import Path

from tamis.storage.store.durable_files import UNFINISHED, remove
from tamis.storage.store.manifest import CURRENT, Manifest

# Only what a store makes itself: a file that somebody put beside it is not ours to remove.
_OURS = re.compile(
    rf"(segment|removed|log|manifest)-\d{{6,}}({re.escape(UNFINISHED)})?"
    rf"|{CURRENT}{re.escape(UNFINISHED)}"
)


def remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """Remove what does not belong to the current version. Only for the writer."""
    kept = manifest.files
    for path in list(folder.iterdir()):
        if _OURS.fullmatch(path.name) and path.name not in kept:
            remove(path)
