"""A workload as a user requests it: a name, parameters as text, SNPS and SMPE; and its figures.

>>> request = request_workload("selective", subscriptions=500, texts={"predicates": "2"})
>>> request.tables.workload.predicates, 0 < request.facts()["selectivity"] < 0.1
(2, True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tamis.errors import InputError, shorten
from tamis.events.batch import EventBatch
from tamis.matcher import Matcher
from tamis_lab.workloads.atree2004.calibration import steer_workload
from tamis_lab.workloads.atree2004.shared_fraction import sample_of, shared_fraction
from tamis_lab.workloads.workload_catalogue import (
    WorkloadTables,
    check_name,
    check_parameters,
    parameters_of,
    workload_by_name,
)

# Further arguments of atree2004's events, and parameters that are computed for a given SNPS or
# SMPE.
_DRAWN: dict[str, type] = {"matching": float, "scale": float, "least": int}
_FOUND = ("shared_predicates", "repeated", "pool", "values")
# Selectivity is measured on this many of each.
_SUBSCRIPTIONS, _EVENTS = 2_000, 1_000


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload and the request for it.

    Attributes:
        name: The name of the workload.
        tables: The workload.
        wanted: SNPS and SMPE, as far as they were requested.
    """

    name: str
    tables: WorkloadTables
    wanted: Mapping[str, float]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, without seed and size, as plain values."""
        return {name: getattr(self.tables.workload, name) for name in parameters_of(self.name)}

    def facts(self, events: int = _EVENTS) -> dict[str, Any]:
        """Measure the workload: selectivity, and SNPS where the thesis defines it.

        Args:
            events: Use at most this many events.
        """
        found: dict[str, Any] = {"selectivity": selectivity(self.tables, events)}
        if self.name == "atree2004":
            found["snps"] = shared_fraction(sample_of(self.tables.workload))
            found["smpe"] = found["selectivity"]
        return found

    def description(self) -> dict[str, Any]:
        """Return everything that determines the workload, to be written beside it."""
        return {
            "workload": self.name,
            "seed": self.tables.workload.seed,
            "subscriptions": self.tables.size,
            "parameters": self.parameters,
            "events": dict(self.tables.drawn),
            "asked": dict(self.wanted),
        }


def request_workload(
    name: str,
    *,
    seed: int | None = None,
    subscriptions: int = 1,
    texts: Mapping[str, str] | None = None,
    snps: float | None = None,
    smpe: float | None = None,
) -> WorkloadRequest:
    """Return a workload by name, with parameters as text.

    Args:
        name: One of `workload_catalogue.NAMES`.
        seed: Replaces the workload's own seed.
        subscriptions: Number of subscriptions.
        texts: Parameters, as written on the command line.
        snps: For `atree2004`: see `atree2004.calibration`.
        smpe: For `atree2004`: see `atree2004.calibration`.

    Raises:
        InputError: The workload or a parameter is unknown or out of range, or SNPS or SMPE
            cannot be reached.
    """
    check_name(name)
    given = dict(texts or {})
    drawn = {key: given.pop(key) for key in list(given) if name == "atree2004" and key in _DRAWN}
    check_parameters(name, given)
    parameters = {key: _parse_parameter(name, key, text) for key, text in given.items()}
    events = {key: _convert(_DRAWN[key], text, key) for key, text in drawn.items()}
    wanted = {key: v for key, v in (("snps", snps), ("smpe", smpe)) if v is not None}
    if not wanted:
        return WorkloadRequest(
            name, workload_by_name(name, seed, subscriptions, parameters, events), {}
        )
    if name != "atree2004":
        raise InputError("only atree2004 has this option", next(iter(wanted)))
    for key in events.keys() - {"least"}:
        raise InputError("is computed from --snps and --smpe; leave it out", key)
    usual = {k: v for k, v in parameters_of(name).items() if k not in _FOUND}
    size: dict[str, Any] = {"subscriptions": subscriptions}
    if seed is not None:
        size["seed"] = seed
    found = steer_workload(snps=snps, smpe=smpe, **{**usual, **parameters, **size, **events})
    made = asdict(found.workload)
    changed = {key: made[key] for key in parameters_of(name)}
    return WorkloadRequest(
        name,
        workload_by_name(name, made["seed"], subscriptions, changed, asdict(found.drawn)),
        wanted,
    )


def selectivity(listed: WorkloadTables, events: int = _EVENTS) -> float:
    """Measure the fraction of pairs that match, among the first subscriptions and events."""
    size = min(listed.size, _SUBSCRIPTIONS)
    count = min(events, _EVENTS, listed.length or _EVENTS)
    if not count:
        return 0.0
    matcher = Matcher()
    table = listed.subscriptions(0, size)
    matcher.add_many(zip(table["id"].to_pylist(), table["selector"].to_pylist(), strict=True))
    found = matcher.counts(EventBatch.from_arrow(listed.table(0, count)))
    return int(sum(found.values())) / (size * count)


def _parse_parameter(name: str, parameter: str, text: str) -> Any:
    """Convert the text of a parameter to the type of its default; to an integer if that is None."""
    usual = parameters_of(name)[parameter]
    if isinstance(usual, tuple):
        parts = text.split(",")
        if len(parts) != len(usual):
            raise InputError(
                f"takes {len(usual)} numbers, such as {_parameter_text(usual)}", parameter
            )
        return tuple(_convert(int, part, parameter) for part in parts)
    kind = int if usual is None else type(usual)
    return None if usual is None and text == "none" else _convert(kind, text, parameter)


def _convert(kind: type, text: str, parameter: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        wanted = {int: "a whole number", float: "a number"}.get(kind, kind.__name__)
        raise InputError(f"must be {wanted}, not {shorten(text)!r}", parameter) from None


def _parameter_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()


def parameters_as_text(name: str) -> str:
    """Return the parameters of a workload and their defaults in one line."""
    shown = [f"{key}={_parameter_text(value)}" for key, value in parameters_of(name).items()]
    return " ".join(shown)
