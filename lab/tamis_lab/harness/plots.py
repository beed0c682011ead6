"""Matplotlib, which is optional: a check before the work, and `pyplot` without a display."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from tamis.errors import InputError


def require_matplotlib(option: str, otherwise: str = "") -> None:
    """Check that plots can be drawn; call it before a long run, not after it.

    Args:
        option: The option that asks for plots.
        otherwise: How to do without plots, if that is possible.

    Raises:
        InputError: Matplotlib is not installed.
    """
    if not find_spec("matplotlib"):
        how = "pip install 'tamis-lab[bench]'" + (f", or {otherwise}" if otherwise else "")
        raise InputError(f"plots need Matplotlib: {how}", option)


def load_pyplot() -> Any:
    """Import `matplotlib.pyplot` with a backend that needs no display.

    Raises:
        ImportError: Matplotlib is not installed.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
