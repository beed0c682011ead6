"""The examples of docs/guides/spark.md give the output they show."""

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

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "guides" / "spark.md"


def test_the_examples_give_their_output(
    spark: SparkSession, shared_nats: Nats, tmp_path: Path
) -> None:
    for prefix in ("tamis", "alerts"):
        prepared(shared_nats.url, prefix)
    text = DOCS.read_text().replace("/shared/", f"{tmp_path}/")
    text = text.replace("nats://127.0.0.1:4222", shared_nats.url)
    found = doctest.DocTestParser().get_doctest(text, {}, DOCS.name, str(DOCS), 0)
    assert len(found.examples) > 20
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(found, out=said.append)
    assert not said, "".join(said)


def test_the_example_of_the_readme(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    section = (ROOT / "README.md").read_text().partition("## On Spark")[2].partition("\n## ")[0]
    code = section.partition("```python\n")[2].partition("```")[0]
    exec(code.replace("/shared/", f"{tmp_path}/"), {})
    assert "|     1|  8.5|       cheap|       0|            1| NULL|" in capsys.readouterr().out
