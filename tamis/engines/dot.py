"""What the drawings of all engines share; it is written where all layers find it."""

from __future__ import annotations

from tamis.dot import quoted

__all__ = ["quoted"]
