"""One shared binary decision diagram for all subscriptions."""

from __future__ import annotations

from tamis.engines.bdd.engine import BddEngine

__all__ = ["BddEngine"]
