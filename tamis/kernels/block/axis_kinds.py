"""The kinds of axes: which family of values an axis ranks."""

from __future__ import annotations

# All but TEXT have their constants among the numbers. On PRESENCE every value has rank 1.
NUMBER, TEXT, INSTANT, TRUTH, PRESENCE = range(5)
KINDS = 5
