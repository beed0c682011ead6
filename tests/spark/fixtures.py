"""The one SparkSession of the tests, for the conftest of every folder that wants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")
    from tamis.spark import session

    scratch = tmp_path_factory.mktemp("spark")
    found = session(
        "tamis tests",
        **{
            "spark.local.dir": str(scratch / "local"),
            "spark.sql.warehouse.dir": str(scratch / "warehouse"),
            "spark.driver.memory": "2g",
            # As few as can differ: of each a stream keeps a state, and writes it every time.
            "spark.sql.shuffle.partitions": "2",
            # Its parser keeps what it learns from each new expression, and the oracle has many.
            "spark.sql.parser.manageParserCaches": "true",
            "spark.sql.parser.parserDfaCacheFlushThreshold": "50000",
        },
    )
    yield found
    found.stop()
