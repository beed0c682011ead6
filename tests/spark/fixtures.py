"""The SparkSession of the tests, for the conftest of every folder that needs it."""

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
            # More than one, but few: a stream writes a state for each in every micro-batch.
            "spark.sql.shuffle.partitions": "2",
            # Spark's parser caches what it learns from each expression, and the oracle has many.
            "spark.sql.parser.manageParserCaches": "true",
            "spark.sql.parser.parserDfaCacheFlushThreshold": "50000",
        },
    )
    yield found
    found.stop()
