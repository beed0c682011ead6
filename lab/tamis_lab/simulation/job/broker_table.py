"""A user's own network: brokers with any names, from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from tamis.errors import InputError
from tamis_lab.simulation.topology import OverlayTree, renumber_tree

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class NumberedBrokers(NamedTuple):
    """A network, and the numbers of its brokers.

    Attributes:
        tree: The network.
        names: The name of each broker, by number.
        table: `name` and `broker`, its number: to join with tables that name brokers.
    """

    tree: OverlayTree
    names: list[object]
    table: DataFrame


def brokers_of(table: DataFrame) -> NumberedBrokers:
    """Return the network of a table with the columns `broker` and `parent`, null for the root.

    Raises:
        InputError: A column is missing, a broker occurs twice, or this is not a tree.
    """
    for column in ("broker", "parent"):
        if column not in table.columns:
            raise InputError(f"there is no column {column!r}", "brokers")
    rows = table.select("broker", "parent").toArrow().to_pylist()
    names = [row["broker"] for row in rows]
    places = {name: place for place, name in enumerate(names)}
    if len(places) < len(names) or None in places:
        raise InputError("each broker must have a name, and one row", "brokers")
    for row in rows:
        if row["parent"] is not None and row["parent"] not in places:
            raise InputError(f"the parent {row['parent']!r} is not a broker", "brokers")
    parents = [-1 if row["parent"] is None else places[row["parent"]] for row in rows]
    tree, numbers = renumber_tree(parents)
    ordered = sorted(names, key=lambda name: int(numbers[places[name]]))
    found = pa.table({"name": pa.array(names), "broker": pa.array(numbers, pa.int32())})
    return NumberedBrokers(tree, ordered, table.sparkSession.createDataFrame(found))
