"""The kernels that are compiled ahead are those that are used."""

import sys

import pytest

from tamis import warm
from tamis.errors import InputError
from tamis.kernels.atree import levels
from tamis.kernels.baselines import counting
from tamis.kernels.block import match
from tamis.kernels.bloom import sbstree
from tamis.matcher import Matcher


def test_the_default_engine_is_warmed() -> None:
    warm.main([])
    assert match.match_rows.signatures  # type: ignore[attr-defined]


def test_other_engines_are_warmed_with_all_options() -> None:
    warm.warm_engine("atree")
    assert levels.climb_levels.signatures  # type: ignore[attr-defined]
    warm.warm_engine("counting")  # supports conjunctions only
    assert counting.count.signatures  # type: ignore[attr-defined]


def test_an_engine_that_is_not_installed_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dd", "dd.cudd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match="needs CUDD"):
        Matcher(engine="bdd")
    warm.warm_engine("bdd")


def test_an_overlay_node_is_warmed() -> None:
    pytest.importorskip("nats", reason="pip install 'tamis[broker]'")
    warm.warm_node()
    assert sbstree.sbstree_publish.signatures  # type: ignore[attr-defined]
