"""DuckDB: a Boolean column per rule, fifty per query, on one thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.language.expr import Like, StringTest
from tamis_lab.peers.infix import Sql
from tamis_lab.peers.peer import TABLE, Limits, Outcome, Peer, missing_package, package_version
from tamis_lab.peers.peer_rates import Pairs, add_rules, match_in_batches, true_cells
from tamis_lab.peers.peer_workload import read_rules
from tamis_lab.peers.python_peers import process_runner
from tamis_lab.peers.rule_chunks import Chunk, chunks

NAME = "duckdb"
# Columns per query: planning time grows with the square.
COLUMNS = 50
_TESTS = {"contains": "contains", "startswith": "starts_with", "endswith": "ends_with"}


class DuckdbSql(Sql):
    """The SQL of DuckDB."""

    peer = NAME

    def number(self, value: int | float) -> str:
        """A plain number with a point would be a DECIMAL; one with an exponent is a DOUBLE."""
        text = repr(value)
        return text if isinstance(value, int) or "e" in text else f"{text}e0"

    def text_test(self, e: StringTest) -> str:
        """The functions have other names."""
        return f"{_TESTS[e.function]}({self.value(e.text)}, {self.value(e.part)})"

    def like(self, e: Like) -> str:
        """The escape character is one byte."""
        if e.ignore_case or not e.escape.isascii():
            raise self.refuse("ILIKE, or an escape character that is not ASCII")
        return f"{self.value(e.operand)} LIKE {self.text(e.pattern)} ESCAPE {self.text(e.escape)}"


def contest(folder: str, build: float, match: float, sample: int) -> Outcome:
    """Prepare queries of some rules each, and find where their columns are true."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    table = pq.read_table(Path(folder, TABLE))
    connection.register("given", table)
    connection.execute("CREATE TABLE events AS SELECT * FROM given LIMIT 0")
    queries: list[list[int]] = []

    def add(chunk: Chunk) -> None:
        ids, texts = chunk
        columns = ", ".join(f"({text}) AS r{n}" for n, text in enumerate(texts))
        connection.execute(f"PREPARE q{len(queries)} AS SELECT {columns} FROM events")
        queries.append(ids)

    begun_with = list(chunks(read_rules(Path(folder)), COLUMNS))
    _, seconds = add_rules(begun_with, add, build)
    loaded = sum(map(len, queries)), seconds

    def match_part(part: pa.Table) -> Pairs:
        connection.register("part", part)
        connection.execute("DELETE FROM events")
        connection.execute("INSERT INTO events SELECT * FROM part")
        return true_cells((ids, _cells(connection, n)) for n, ids in enumerate(queries))

    return match_in_batches(match_part, table, Limits(build, match, sample), loaded)


def _cells(connection: Any, query: int) -> Any:
    found = connection.execute(f"EXECUTE q{query}").fetchnumpy()
    return np.array([np.ma.filled(column, False) for column in found.values()], np.bool_)


DUCKDB = Peer(
    name=NAME,
    about="DuckDB, a Boolean column per rule",
    takes="Arrow table",
    unavailable=lambda: missing_package(NAME, "duckdb"),
    version=lambda: package_version(NAME),
    translate=DuckdbSql.translate,
    run=process_runner(contest),
)
