"""The examples of docs/guides/spark.md give what they say."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("nats", reason="pip install 'tamis[broker]'")

from tests.broker.conftest import Nats, shared_nats
from tests.spark.sources.broker_streams import prepared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["shared_nats"]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

DOCS = Path(__file__).parents[2] / "docs" / "guides" / "spark.md"


def test_the_examples(spark: SparkSession, shared_nats: Nats, tmp_path: Path) -> None:
    for prefix in ("tamis", "alerts"):
        prepared(shared_nats.url, prefix)
    text = DOCS.read_text().replace("/shared/", f"{tmp_path}/")
    text = text.replace("nats://127.0.0.1:4222", shared_nats.url)
    found = doctest.DocTestParser().get_doctest(text, {}, DOCS.name, str(DOCS), 0)
    assert len(found.examples) > 20
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(found, out=said.append)
    assert not said, "".join(said)
