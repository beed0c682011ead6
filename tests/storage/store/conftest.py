"""Tests do not wait for the disk: test_power_cut.py checks what is synced, and when."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def no_waiting() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"
