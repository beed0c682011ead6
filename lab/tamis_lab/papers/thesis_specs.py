"""All figures of the A-Tree thesis' evaluation (chapter 5), in their order."""

from __future__ import annotations

from tamis_lab.papers.spec import Figure
from tamis_lab.papers.thesis_conjunctions import conjunctive_figures
from tamis_lab.papers.thesis_effects import lengths, matches, overlap
from tamis_lab.papers.thesis_expressions import disjunctive_figures, mixed_figures
from tamis_lab.papers.thesis_sweeps import SIZES


def figures(scale: str) -> list[Figure]:
    """Return all figures, in order."""
    sizes = SIZES[scale]
    return [
        *conjunctive_figures(sizes),
        *disjunctive_figures(sizes),
        *mixed_figures(sizes),
        *lengths(sizes),
        *overlap(sizes),
        *matches(sizes),
    ]
