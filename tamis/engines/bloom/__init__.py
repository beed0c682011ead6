"""The engine `bloom`: the routing structures of the DEBS 2008 paper, followed by an exact check."""

from __future__ import annotations

from tamis.engines.bloom.engine import BloomEngine

__all__ = ["BloomEngine"]
