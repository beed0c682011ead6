"""The A-Tree: one forest of shared sub-expressions for all subscriptions."""

from __future__ import annotations

from tamis.engines.atree.engine import AtreeEngine

__all__ = ["AtreeEngine"]
