"""All peers by name, Tamis first."""

from __future__ import annotations

from collections.abc import Mapping

from tamis_lab.peers.a_tree_crate import A_TREE
from tamis_lab.peers.duckdb_expressions import DUCKDB
from tamis_lab.peers.event_ruler import EVENT_RULER
from tamis_lab.peers.lucene_monitor import LUCENE_MONITOR
from tamis_lab.peers.peer import Peer
from tamis_lab.peers.polars_expressions import POLARS
from tamis_lab.peers.quamina import QUAMINA
from tamis_lab.peers.rule_engine_package import RULE_ENGINE
from tamis_lab.peers.spark_expressions import SPARK
from tamis_lab.peers.tamis_peer import TAMIS, TAMIS_JSON, TAMIS_SINGLE

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
