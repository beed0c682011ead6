"""Read files and folders as Spark tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.spark.session import DataFrame, SparkSession

# The column for records that cannot be read, by Spark's default name.
CORRUPT = "_corrupt_record"

_FORMATS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json",
            ".csv": "csv"}  # fmt: skip


def format_of(path: str) -> str | None:
    """Return parquet, json or csv, from the name of a file or of the files in a folder."""
    named = _format_by_name(path)
    if named is None and os.path.isdir(path):
        inside = (_format_by_name(name) for name in sorted(os.listdir(path)) if name[0] not in "._")
        named = next((format for format in inside if format), None)
    return named


def _format_by_name(path: str) -> str | None:
    name = path.rstrip("/").removesuffix(".gz")
    return _FORMATS.get(Path(name).suffix.lower())


def is_index(path: str) -> bool:
    """Whether this is an index, not a table; a folder that is not visible here counts as one."""
    if _format_by_name(path):
        return False
    folder = Path(path)
    if not folder.exists():
        return True
    return any(folder.glob("v[0-9]*")) or any(folder.glob("manifest-*"))


def read_table(spark: SparkSession, path: str, *, strict: bool = False) -> DataFrame:
    """Read a table.

    Args:
        spark: The session.
        path: A file or a folder.
        strict: Whether an unreadable record is an error, not a row with `_corrupt_record`.

    Raises:
        InputError: The format is unknown.
    """
    format = format_of(path)
    if format is None:
        raise InputError(
            "unknown format: use the suffix .parquet, .jsonl, .json or .csv",
            path,
        )
    return spark.read.options(**options_of(format, strict)).format(format).load(_url(path))


def options_of(format: str, strict: bool) -> dict[str, Any]:
    """Return the options with which Spark reads a format as Tamis does."""
    if format == "parquet":
        return {}
    options: dict[str, Any] = {"mode": "FAILFAST" if strict else "PERMISSIVE"}
    if format == "csv":
        # Quotes are doubled, not escaped, and a text may have several lines.
        options |= {"header": True, "inferSchema": True, "escape": '"', "multiLine": True}
    return options


def _url(path: str) -> str:
    # A path visible to the driver is a local file, whatever the cluster's default file system is.
    return Path(path).absolute().as_uri() if "://" not in path and Path(path).exists() else path
