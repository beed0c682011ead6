"""All peers by name, Tamis first."""

from __future__ import annotations

from collections.abc import Mapping

from tamis.bench.peers.a_tree_crate import A_TREE
from tamis.bench.peers.duckdb_expressions import DUCKDB
from tamis.bench.peers.event_ruler import EVENT_RULER
from tamis.bench.peers.lucene_monitor import LUCENE_MONITOR
from tamis.bench.peers.ourselves import TAMIS, TAMIS_JSON, TAMIS_SINGLE
from tamis.bench.peers.peer import Peer
from tamis.bench.peers.polars_expressions import POLARS
from tamis.bench.peers.quamina import QUAMINA
from tamis.bench.peers.rule_engine_package import RULE_ENGINE
from tamis.bench.peers.spark_expressions import SPARK

PEERS: Mapping[str, Peer] = {
    peer.name: peer
    for peer in (
        TAMIS,
        TAMIS_JSON,
        TAMIS_SINGLE,
        RULE_ENGINE,
        POLARS,
        DUCKDB,
        SPARK,
        A_TREE,
        QUAMINA,
        EVENT_RULER,
        LUCENE_MONITOR,
    )
}
