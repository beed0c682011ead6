"""Files of events, written and read back."""

from __future__ import annotations

import gzip
from pathlib import Path

from tamis.events.files import read_events
from tamis.events.records import BadLine
from tamis.schema import Schema


def read(
    path: Path | str, schema: Schema | None = None, semantics: str = "sql", batch_size: int = 10_000
) -> tuple[dict[int, dict[str, object]], list[tuple[int, str]]]:
    """Return all good events by number, and all bad lines."""
    bad: list[BadLine] = []
    events: dict[int, dict[str, object]] = {}
    for numbers, batch, _ in read_events(
        path, schema, semantics, bad="skip", on_bad=bad.append, batch_size=batch_size
    ):
        assert len(numbers) == len(batch) > 0
        events.update(zip(numbers, batch.rows(), strict=True))
    return events, [(line.line, line.reason) for line in bad]


def put(path: Path, data: str | bytes) -> Path:
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
