"""Polars: an expression per rule, a thousand per `select`, on one thread."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.language.expr import Like, Literal, StringTest
from tamis_lab.peers.forms import text_test
from tamis_lab.peers.infix import Sql
from tamis_lab.peers.peer import TABLE, Limits, Outcome, Peer, missing_package, package_version
from tamis_lab.peers.peer_rates import Pairs, add_rules, match_in_batches, true_cells
from tamis_lab.peers.peer_workload import read_rules
from tamis_lab.peers.python_peers import process_runner
from tamis_lab.peers.rule_chunks import Chunk, chunks

NAME = "polars"
# Expressions per `select`: fewer or more make no difference.
COLUMNS = 1_000
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")  # in a regular expression
_TESTS = {"startswith": "STARTS_WITH", "endswith": "ENDS_WITH"}


class PolarsSql(Sql):
    """The SQL of `pl.sql_expr`."""

    peer = NAME

    def text_test(self, e: StringTest) -> str:
        """STRPOS takes a regular expression, and returns 0 for a missing text: keep that NULL."""
        text = self.value(e.text)
        if e.function in _TESTS:
            return f"{_TESTS[e.function]}({text}, {self.value(e.part)})"
        if not (isinstance(e.part, Literal) and isinstance(e.part.value, str)):
            raise self.refuse(e)
        part = Literal(_SPECIAL.sub(r"\\\g<0>", e.part.value), e.part.type)
        found = f"STRPOS({text}, {self.value(part)}) > 0"
        return (
            f"(CASE WHEN {text} IS NULL THEN NULL ELSE {found} END)"
            if self.nullable(e.text)
            else found
        )

    def like(self, e: Like) -> str:
        """Support patterns that are a prefix, suffix or substring."""
        return self.text_test(text_test(e, self.peer))


def contest(folder: str, build: float, match: float, sample: int) -> Outcome:
    """Select the rules as Boolean columns, and find where they are true."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars as pl

    queries: list[tuple[list[int], list[Any]]] = []

    def add(chunk: Chunk) -> None:
        ids, texts = chunk
        queries.append((ids, [pl.sql_expr(t).alias(f"r{n}") for n, t in enumerate(texts)]))

    begun_with = list(chunks(read_rules(Path(folder)), COLUMNS))
    _, seconds = add_rules(begun_with, add, build)
    loaded = sum(len(ids) for ids, _ in queries), seconds

    def match_table(table: pa.Table) -> Pairs:
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        return true_cells((ids, _cells(frame.select(query))) for ids, query in queries)

    table = pq.read_table(Path(folder, TABLE))
    return match_in_batches(match_table, table, Limits(build, match, sample), loaded)


def _cells(frame: Any) -> Any:
    return np.array([column.fill_null(False).to_numpy() for column in frame.iter_columns()])


POLARS = Peer(
    name=NAME,
    about="Polars, an expression per rule",
    takes="Arrow table",
    unavailable=lambda: missing_package(NAME, "polars"),
    version=lambda: package_version(NAME),
    translate=PolarsSql.translate,
    run=process_runner(contest),
)
