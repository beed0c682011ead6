"""An index in versions: each is a folder that never changes, so that any result is reproducible.

    index/
      v00000001/    what `Matcher.save` writes
      v00000002/
      parts/        what executors are writing; removed when the version is complete
      rejects/      by version, the rejected rows
      pins/         by streaming query and micro-batch, the version that it used

The folder must have the same path for the driver and for all workers.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from tamis.errors import InputError
from tamis.storage.store.durable_files import UNFINISHED, remove, sync_folder, write_synced

_NAME = re.compile(r"v([0-9]{8})")
# The number of micro-batches of a query whose pins are kept: Spark repeats only the last one.
_PINS = 64
_DAY = 86_400.0


class Version(NamedTuple):
    """A version of an index; number 0 is a matcher that was saved without versions."""

    number: int
    folder: Path


def folder_of(index: str | Path, number: int) -> Path:
    """Return the folder of a version, which need not exist yet."""
    return Path(index) / f"v{number:08d}"


def versions(index: str | Path) -> list[int]:
    """Return the numbers of all versions, in order."""
    folder = Path(index)
    names = os.listdir(folder) if folder.is_dir() else []
    return sorted(int(found[1]) for name in names if (found := _NAME.fullmatch(name)))


def latest_version(index: str | Path) -> int:
    """Return the number of the newest version; 0 if there is none."""
    return max(versions(index), default=0)


def resolve(index: str | Path, number: int | None = None) -> Version:
    """Return a version, by default the newest; a folder of `Matcher.save` is version 0.

    Raises:
        InputError: The version or the index does not exist.
    """
    folder = Path(index)
    if _is_matcher(folder) and not number:
        return Version(0, folder)
    found = latest_version(folder) if number is None else number
    if not folder_of(folder, found).is_dir():
        known = versions(folder)
        what = f"there is no version {found} here" if known else "there is no index here"
        span = f"; the versions are {known[0]} to {known[-1]}" if known else ""
        raise InputError(what + span, str(index))
    return Version(found, folder_of(folder, found))


def _is_matcher(folder: Path) -> bool:
    return any(folder.glob("manifest-*"))


def pin_version(index: str | Path, query: str, batch: int) -> Version:
    """Return the version for a micro-batch: the newest one when its first task starts.

    All tasks of the batch get the same version, also when the batch runs again after a crash.
    """
    if _is_matcher(Path(index)):
        return resolve(index)
    pins = Path(index) / "pins" / query
    pin = pins / str(batch)
    if not pin.exists():
        pins.mkdir(parents=True, exist_ok=True)
        newest = resolve(index)
        # A random name, not the pid: workers on two machines or in two containers may share a pid.
        mine = pins / f"{batch}-{token_hex(8)}{UNFINISHED}"
        write_synced(mine, [str(newest.number).encode()])
        try:
            os.link(mine, pin)  # the first task decides
        except FileExistsError:
            pass
        finally:
            mine.unlink()
        for old in _old_pins(pins, batch):
            old.unlink(missing_ok=True)
    return resolve(index, int(pin.read_bytes()))


def _old_pins(pins: Path, batch: int) -> Iterator[Path]:
    for name in os.listdir(pins):
        if name.isdigit() and int(name) < batch - _PINS:
            yield pins / name


def _last_pin(pins: Path) -> int | None:
    """Return the version of the last micro-batch of a query."""
    batches = [int(name) for name in os.listdir(pins) if name.isdigit()]
    return int((pins / str(max(batches))).read_bytes()) if batches else None


def commit(index: str | Path, unfinished: Path, number: int) -> Version:
    """Rename a complete folder to a version.

    Raises:
        InputError: Another process has created that version meanwhile.
    """
    folder = folder_of(index, number)
    try:
        os.rename(unfinished, folder)
    except OSError:
        if folder.is_dir():
            raise InputError(
                f"version {number} was created by another process; try again", str(index)
            ) from None
        raise
    sync_folder(folder.parent)
    return Version(number, folder)


def drop(index: str | Path, keep: int) -> list[int]:
    """Remove all versions but the newest `keep`; return those removed.

    A worker that has one of them open continues to use it. The version of the last micro-batch of
    a stream stays, because the micro-batch may have to run again; `pins/` has a folder for each
    stream, which you can remove when the stream no longer exists.

    Raises:
        InputError: `keep` is less than 1.
    """
    if keep < 1:
        raise InputError(f"keep must be at least 1, not {keep}", str(index))
    needed = {_last_pin(pins) for pins in (Path(index) / "pins").glob("*")}
    gone = [number for number in versions(index)[:-keep] if number not in needed]
    for number in gone:
        remove(folder_of(index, number))
        for rejects in (Path(index) / "rejects").glob(f"{number:08d}-*"):
            remove(rejects)
    return gone


def remove_leftovers(index: str | Path) -> None:
    """Remove the files of jobs that were killed a day ago or earlier."""
    left = [*Path(index).glob("parts/*"), *Path(index).glob(f"pins/*/*{UNFINISHED}")]
    for part in left:
        if part.stat().st_mtime < time.time() - _DAY:
            remove(part)
