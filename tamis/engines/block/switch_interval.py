"""Shorter turns at Python's lock, while one thread matches and another changes subscriptions.

Matching is a few long calls into kernels and many short ones into NumPy. After each of them the
thread must get Python's lock back, and a thread that is busy adding gives it up only every 5 ms: a
call of 4 ms (2,048 events, 50,000 subscriptions) took 100 ms so, and half of that with turns of a
tenth of a millisecond.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_SHORT = 1e-4

_lock = Lock()
_matching = 0
_usual = 0.0


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Have threads take turns more often, until the last one that wants it is done."""
    global _matching, _usual
    with _lock:
        _matching += 1
        if _matching == 1:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(_SHORT, _usual))
    try:
        yield
    finally:
        with _lock:
            _matching -= 1
            if _matching == 0:
                sys.setswitchinterval(_usual)
