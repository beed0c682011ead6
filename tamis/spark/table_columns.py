"""Checks that all calls on DataFrames share: names of columns, and types of ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The types of ids, by Spark's names.
ID_TYPES = {"string": pa.string(), "bigint": pa.int64()}


def check_columns(events: DataFrame, names: Iterable[str | None]) -> None:
    """Check that events have each of these columns exactly once; None is ignored.

    Raises:
        InputError: A column is missing, or there are two of its name.
    """
    columns = events.columns
    for name in names:
        if name is not None and columns.count(name) != 1:
            many = "no column" if name not in columns else "two columns"
            raise InputError(f"the events have {many} {name!r}; they have {', '.join(columns)}")


def check_names_free(kept: Iterable[str], added: Iterable[str]) -> None:
    """Check that no kept column has the name of an added one.

    Raises:
        InputError: One has.
    """
    taken = set(kept)
    for name in added:
        if name in taken:
            raise InputError(f"the events already have a column {name!r}; leave it out with keep")


def quote_column(name: str) -> str:
    """Quote the name of a column for Spark."""
    return "`" + name.replace("`", "``") + "`"
