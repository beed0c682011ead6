"""The library that makes the diagrams: CUDD, as in the paper, by way of `dd`.

Both `dd` and `oxidd` were tried on 20,000 of the paper's queries. oxidd is quicker to build and to
walk (by 1.9 and 2.2 times), but has no `restrict` to a set of inputs, puts a variable into the
middle only by reordering, and takes room for a fixed number of nodes when it begins. `dd` has
wheels with CUDD for Linux on x86-64 only, so it is an extra, and looked for when it is needed.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tamis.errors import InputError

# Of CUDD's cache of results and its tables; both grow. Its own are made for one large manager in a
# process: 8 MB before the first node.
_CACHE_SLOTS = 1 << 10
_MEMORY = 1 << 28


def cudd() -> ModuleType:
    """The module `dd.cudd`.

    Raises:
        InputError: It is not installed, or came without CUDD.
    """
    try:
        import dd.cudd
    except ImportError as error:
        raise InputError(
            "the engine bdd needs CUDD, which comes with `pip install 'tamis[bdd]'` on Linux; "
            f"the engines block and atree take the same selectors ({error})"
        ) from error
    found: ModuleType = dd.cudd
    return found


def manager() -> Any:
    """A new manager of diagrams, without variables, that keeps the order it is given.

    Raises:
        InputError: CUDD is not installed.
    """
    made = cudd().BDD(_MEMORY, _CACHE_SLOTS)
    # Nodes are known by their address here, and reordering changes what is at one.
    made.configure(reordering=False)
    return made
