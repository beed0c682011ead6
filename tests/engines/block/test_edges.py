"""Cases that were wrong once, or nearly."""

from __future__ import annotations

import pytest

import tamis
from tests.engines.block.compared import engine_of


def matcher_of(**options: object) -> tamis.Matcher:
    return tamis.Matcher(engine="block", **options)


def test_ids_of_the_other_kind_once_all_are_gone() -> None:
    matcher = matcher_of()
    matcher.add(1, "a = 1")
    matcher.remove(1)
    matcher.add("one", "a = 1")
    assert matcher.match({"a": 1}) == ["one"]
    matcher.remove("one")
    matcher.add(2, "a = 1")
    assert matcher.match({"a": 1}) == [2]
