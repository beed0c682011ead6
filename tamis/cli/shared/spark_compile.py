"""`tamis compile --spark`: compile a table of subscriptions into the next index version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.load import format_count
from tamis.cli.shared.options import read_schema
from tamis.cli.shared.spark_session import show_spark_progress, spark_session
from tamis.cli.shared.spark_tables import read_table
from tamis.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Rejected rows to show; --rejects writes all of them.
_SHOWN = 20


def compile_on_spark(
    subscriptions: str,
    out: str,
    semantics: str,
    schema: str | None,
    rejects: str | None,
    master: str | None,
    conf: list[str] | None,
    quiet: bool,
) -> None:
    """Compile the next version, and report a summary and the rejected rows."""
    with spark_session(master, conf) as spark:
        from tamis.spark import compile

        with show_spark_progress(spark, "subscriptions", quiet):
            table = read_table(spark, subscriptions)
            done = compile(table, out, schema=read_schema(schema), semantics=semantics)
        if rejects is not None:
            _write(done.rejects.toArrow(), rejects)
        if done.rejected:
            shown = done.rejects.orderBy("id").limit(_SHOWN).collect()
            console.stderr().print(_table(shown))
            left = done.rejected - len(shown)
            if left > 0:
                more = "" if rejects else "; --rejects FILE writes all of them"
                console.note(f"and {left:,} more{more}")
        if not quiet:
            console.note(
                f"version {done.version}: {format_count(done.subscriptions, 'subscription')}, "
                f"{done.seconds:.2f} s, {format_count(done.rejected, 'rejected row')}"
            )
    if done.rejected:
        raise typer.Exit(exit_codes.SOME_SKIPPED)


def _table(rows: list[Any]) -> object:
    from rich.table import Table
    from rich.text import Text

    from tamis.cli.shared.table_output import word

    table = Table(box=None, header_style="bold")
    table.add_column("id")
    table.add_column("position", justify="right")
    table.add_column("selector", max_width=40, no_wrap=True)
    table.add_column("reason", overflow="fold")
    for row in rows:
        where = "" if row.position is None else str(row.position)
        reason = row.reason.splitlines()[0]
        cells = (word(row.id), where, word(row.selector), reason)
        table.add_row(*map(Text, cells))
    return table


def _write(rows: pa.Table, file: str) -> None:
    path = Path(file)
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(rows, path)
        elif path.suffix == ".csv":
            from pyarrow import csv

            csv.write_csv(rows, path)
        else:
            import msgspec

            encode = msgspec.json.encode
            path.write_bytes(b"".join(encode(row) + b"\n" for row in rows.to_pylist()))
    except OSError as error:
        raise InputError(error.strerror or str(error), file) from error
