"""Tests do not wait for the disk, and segments are small, so that there are several."""

import os
from collections.abc import Iterator

import pytest

from tests.storage.index.small_limits import make_small


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        make_small(patch.setattr)
        yield
