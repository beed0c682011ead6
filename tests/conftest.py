"""One Hypothesis profile for all: repeatable in CI, and no deadlines on a shared machine."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "tamis",
    max_examples=14,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# A soak looks for new examples, and for more of them.
settings.register_profile(
    "soak", settings.get_profile("tamis"), derandomize=False, max_examples=800
)
settings.load_profile("soak" if os.environ.get("TAMIS_SOAK") else "tamis")

# Also for those that tests start as commands.
os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "spark" / "conf")

# What starts Spark by itself, or waits for streams. First, or one worker would end with them alone.
_LONG = (
    "tests/spark/match/test_exactly_once.py",
    "tests/spark/sources/test_broker.py",
    "tests/lab/demo/",
    "tests/spark/sequences/test_sequences.py",
    "tests/spark/test_connect.py",
    "tests/spark/",
    "tests/lab/spark/",
    "tests/cli/test_spark_commands.py",
    "tests/oracles/test_spark.py",
    "tests/engines/test_conformance.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the rest stays as it is."""
    items.sort(key=lambda item: _place(item.nodeid))


def _place(name: str) -> int:
    return next((n for n, long in enumerate(_LONG) if name.startswith(long)), len(_LONG))
