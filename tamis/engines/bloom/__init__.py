"""The engine `bloom`: the routing of the DEBS 2008 paper, with an exact check at the end."""

from __future__ import annotations

from tamis.engines.bloom.engine import BloomEngine

__all__ = ["BloomEngine"]
