"""The kernels of a broker are compiled before it serves."""

import pytest

from tamis.broker.config.settings import NodeSettings, Settings
from tamis.broker.service.warm_up import warm
from tamis.kernels.bloom import sbstree
from tamis.routing.strategies import STRATEGIES


@pytest.mark.parametrize("routing", STRATEGIES)
def test_every_routing_strategy_is_warmed(routing: str) -> None:
    warm(Settings())
    warm(Settings(node=NodeSettings(name="x", routing=routing)))
    if routing in ("edge", "covering"):
        assert sbstree.sbstree_publish.signatures  # type: ignore[attr-defined]
