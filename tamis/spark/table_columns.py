"""What the calls on DataFrames have in common: names of columns, and types of ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The types that ids may have, by Spark's name.
ID_TYPES = {"string": pa.string(), "bigint": pa.int64()}


def check_columns(events: DataFrame, names: Iterable[str | None]) -> None:
    """See that events have each of these columns, once; None names none.

    Raises:
        InputError: They have not.
    """
    columns = events.columns
    for name in names:
        if name is not None and columns.count(name) != 1:
            many = "no column" if name not in columns else "two columns"
            raise InputError(f"the events have {many} {name!r}; they have {', '.join(columns)}")


def check_names_free(kept: Iterable[str], added: Iterable[str]) -> None:
    """See that no column that is kept has the name of one that is added.

    Raises:
        InputError: One has.
    """
    taken = set(kept)
    for name in added:
        if name in taken:
            raise InputError(f"the events have a column {name!r} already; leave it out with keep")


def quote_column(name: str) -> str:
    """A column's name, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
