"""The engines: one algorithm per file, behind one small Protocol."""

from __future__ import annotations

from collections.abc import Mapping

from tamis.engines.brute import BruteEngine
from tamis.engines.protocol import Engine

__all__ = ["DEFAULT", "ENGINES", "Engine"]

ENGINES: Mapping[str, type[Engine]] = {"brute": BruteEngine}
DEFAULT = "brute"
