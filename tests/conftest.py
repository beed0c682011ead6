"""One Hypothesis profile for all tests: a new seed for every run, and no deadlines."""

import os
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.soak import count

settings.register_profile(
    "tamis",
    max_examples=count(25, 800),
    deadline=None,
    derandomize=False,  # Hypothesis derandomizes by default where it sees a CI
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("tamis")

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

# Tests of the engine bdd: its own, and those of all engines.
_BDD = re.compile(r"/bdd/|/test_bdd\.py|\[(.*-)?bdd\b")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave out an engine whose library is not to be had."""
    items.sort(key=lambda item: _place(item.nodeid))
    try:
        import dd.cudd  # noqa: F401
    except ImportError:
        skip = pytest.mark.skip(reason="no CUDD: `dd` has no wheel for this Python or system")
        for item in items:
            if _BDD.search(item.nodeid):
                item.add_marker(skip)


def _place(name: str) -> int:
    return next((n for n, long in enumerate(_LONG) if name.startswith(long)), len(_LONG))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw other examples on every run. Workers of pytest-xdist inherit the option."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(random.randrange(1 << 32))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the seed, so that a failure can be repeated."""
    seed = config.option.hypothesis_seed
    terminalreporter.write_line(f"Repeat the same examples with --hypothesis-seed={seed}")
