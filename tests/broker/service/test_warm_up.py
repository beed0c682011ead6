"""Before a broker serves, it has done once what it will do."""

import pytest

from tamis.broker.config.settings import NodeSettings, Settings
from tamis.broker.service.warm_up import warm
from tamis.kernels.bloom import sbstree
from tamis.routing.strategies import STRATEGIES


@pytest.mark.parametrize("routing", STRATEGIES)
def test_for_each_way_of_routing(routing: str) -> None:
    warm(Settings())
    warm(Settings(node=NodeSettings(name="x", routing=routing)))
    if routing in ("edge", "covering"):
        assert sbstree.sbstree_publish.signatures  # type: ignore[attr-defined]
