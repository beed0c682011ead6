"""The examples of docs/spark.md give what they say."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

DOCS = Path(__file__).parents[2] / "docs" / "spark.md"


def test_the_examples(spark: SparkSession, tmp_path: Path) -> None:
    text = DOCS.read_text().replace("/shared/", f"{tmp_path}/")
    found = doctest.DocTestParser().get_doctest(text, {}, DOCS.name, str(DOCS), 0)
    assert len(found.examples) > 20
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(found, out=said.append)
    assert not said, "".join(said)
