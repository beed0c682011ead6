"""All tables and figures, in the order of the papers."""

from __future__ import annotations

from tamis.errors import InputError
from tamis_lab.papers import bdd_specs, beyond_specs, bloom_specs, thesis_specs
from tamis_lab.papers.spec import SCALES, Figure
from tamis_lab.workloads.known_names import check_known

TITLES = {
    "bdd": "Efficient filtering in publish-subscribe systems using binary decision diagrams "
    "(ICSE 2001)",
    "atree": "A fast filtering engine for publish/subscribe system (Toronto, 2004)",
    "bloom": "Bloom filter based routing for content-based publish/subscribe (DEBS 2008)",
    "beyond": "Beyond the papers",
}
_SPECS = {
    "bdd": bdd_specs.figures,
    "atree": thesis_specs.figures,
    "bloom": bloom_specs.figures,
    "beyond": beyond_specs.figures,
}


def figures(scale: str, asked: list[str] | None = None) -> list[Figure]:
    """Return the figures at a scale: all, those of some papers, or some by number.

    Args:
        scale: "small" or "paper".
        asked: Papers ("bdd"), or figures such as "atree:5.4" or "bloom:6(a)".

    Raises:
        InputError: A scale, paper or figure is unknown.
    """
    check_known("scale", [scale], SCALES, "scale")
    if not asked:
        return [figure for specs in _SPECS.values() for figure in specs(scale)]
    found: list[Figure] = []
    for name in asked:
        paper, _, number = name.partition(":")
        check_known("paper", [paper], _SPECS)
        chosen = [f for f in _SPECS[paper](scale) if not number or number in f.number.split()]
        if not chosen:
            known = ", ".join(f.number for f in _SPECS[paper](scale))
            raise InputError(f"{paper} has no {number!r}; it has {known}")
        found += chosen
    return found
