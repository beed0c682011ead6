"""A shorter switch interval while one thread matches and another changes subscriptions.

Matching makes a few long calls into kernels and many short ones into NumPy. After each call the
thread must reacquire the GIL, and a thread that is busy adding releases it only every 5 ms. A call
of 4 ms (2,048 events, 50,000 subscriptions) took 100 ms that way, and half of that with a switch
interval of 0.1 ms.
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
    """Shorten the switch interval until the last of the nested or concurrent blocks ends."""
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
