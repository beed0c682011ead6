"""The library that builds the diagrams: CUDD, as in the paper, through `dd`.

Both `dd` and `oxidd` were tried on 20,000 of the paper's queries. oxidd is faster to build and to
traverse (by 1.9 and 2.2 times), but it has no `restrict` to a set of inputs, can insert a variable
in the middle only by reordering, and allocates room for a fixed number of nodes at the start. `dd`
has wheels with CUDD for Linux on x86-64 only, and none for Python 3.14 yet, so it is an optional
extra, imported when it is needed. Without a wheel pip builds `dd` without CUDD, which is enough for
`tamis.analysis`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tamis.errors import InputError

# Initial sizes of CUDD's cache and tables; both grow. CUDD's defaults are meant for one large
# manager per process: 8 MB before the first node.
_CACHE_SLOTS = 1 << 10
_MEMORY = 1 << 28


def cudd() -> ModuleType:
    """Import the module `dd.cudd`.

    Raises:
        InputError: It is not installed, or was built without CUDD.
    """
    try:
        import dd.cudd
    except ImportError as error:
        raise InputError(
            "the engine bdd needs CUDD: install it with `pip install 'tamis[bdd]'` on Linux, "
            "with a Python for which `dd` has a wheel (3.13, not 3.14), or "
            f"use the engine block or atree, which support the same selectors ({error})"
        ) from error
    module: ModuleType = dd.cudd
    return module


def manager() -> Any:
    """Create a manager of diagrams without variables that keeps the order it is given.

    Raises:
        InputError: CUDD is not installed.
    """
    bdd = cudd().BDD(_MEMORY, _CACHE_SLOTS)
    # Nodes are identified by their address, and reordering changes the node at an address.
    bdd.configure(reordering=False)
    return bdd
