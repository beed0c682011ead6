"""What workers need, in a shared folder: arrays that they map, and a compiled index.

parts/        the conjunctions of interests, and the demand for them
texts/        the texts of interests, one after the other
coverers/     which interests cover which
net-NAME/     the tables of the network of that name
index/        interests and predicates, compiled for matching
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.storage.store.arrays import open_arrays, write_arrays
from tamis_lab.kernels.false_claims import Conjunctions
from tamis_lab.kernels.overlay_tables import Coverers, Demand
from tamis_lab.simulation.job.coverers import CovererFinder
from tamis_lab.simulation.job.interests import Interests
from tamis_lab.simulation.job.link_tables import NetworkTables
from tamis_lab.simulation.topology import OverlayTree

_KEPT = 2  # folders that a worker keeps open


class StoredInterests(NamedTuple):
    """The interests and the demand for them."""

    interests: Interests
    wants: Demand


def store(folder: Path, interests: Interests, wants: Demand) -> None:
    """Write interests and the demand for them."""
    arrays: dict[str, npt.NDArray[Any]] = {
        **{f"parts.{name}": array for name, array in interests.parts._asdict().items()},
        **{f"wants.{name}": array for name, array in wants._asdict().items()},
        "keys": interests.keys,
    }
    write_arrays(folder / "parts", arrays, {"predicates": len(interests.predicates)})
    texts = msgspec.msgpack.encode(interests.texts)
    write_arrays(folder / "texts", {"texts": np.frombuffer(texts, np.uint8)}, {})


def store_coverers(folder: Path, coverers: Coverers) -> None:
    """Write which interests cover which."""
    write_arrays(folder / "coverers", coverers._asdict(), {})


def store_network(folder: Path, name: str, tree: OverlayTree, known: NetworkTables) -> None:
    """Write the tables of a network."""
    write_arrays(folder / f"net-{name}", {**tree._asdict(), **known._asdict()}, {})


@lru_cache(_KEPT)
def open_interests(folder: Path) -> StoredInterests:
    """Map interests and the demand for them; texts of predicates are left out."""
    arrays, meta = open_arrays(folder / "parts")
    parts = Conjunctions(*(arrays[f"parts.{name}"] for name in Conjunctions._fields))
    wants = Demand(*(arrays[f"wants.{name}"] for name in Demand._fields))
    predicates = [""] * int(meta["predicates"])  # type: ignore[call-overload]
    interests = Interests(texts(folder), predicates, arrays["keys"], parts, wants.bytes, wants.void)
    return StoredInterests(interests, wants)


@lru_cache(_KEPT)
def texts(folder: Path) -> list[str]:
    """Return the texts of interests."""
    arrays, _ = open_arrays(folder / "texts")
    found: list[str] = msgspec.msgpack.decode(arrays["texts"].tobytes())
    return found


@lru_cache(_KEPT)
def coverer_finder(folder: Path) -> CovererFinder:
    """Return a finder for all interests, which a worker creates once."""
    return CovererFinder(texts(folder))


@lru_cache(_KEPT)
def coverers(folder: Path) -> Coverers:
    """Map which interests cover which."""
    arrays, _ = open_arrays(folder / "coverers")
    return Coverers(*(arrays[name] for name in Coverers._fields))


def networks(folder: Path, names: Iterable[str]) -> Mapping[str, tuple[OverlayTree, NetworkTables]]:
    """Map the tables of networks."""
    return {name: _network(folder, name) for name in names}


@lru_cache(16)
def _network(folder: Path, name: str) -> tuple[OverlayTree, NetworkTables]:
    arrays, _ = open_arrays(folder / f"net-{name}")
    tree = OverlayTree(*(arrays[field] for field in OverlayTree._fields))
    return tree, NetworkTables(*(arrays[field] for field in NetworkTables._fields))
