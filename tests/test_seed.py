"""Property tests draw new examples on every run, the same ones in all its processes."""

import pytest
from hypothesis import core, settings


def test_the_seed_of_the_run_reaches_the_examples(request: pytest.FixtureRequest) -> None:
    assert str(core.global_force_seed) == request.config.option.hypothesis_seed
    assert not settings().derandomize
