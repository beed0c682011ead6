"""Analysis of rule sets with BDDs: dead, duplicate and covered selectors, and effects of changes.

Every verdict is proved, or shown by an event that `evaluate` confirmed, or it is "undecided".
docs/guides/lint.md explains how.
"""

from __future__ import annotations

from tamis.analysis.diff import KINDS, Change, diff
from tamis.analysis.findings import RULES, Finding
from tamis.analysis.lint import lint
from tamis.analysis.reasoner import Answer, Reasoner

__all__ = ["KINDS", "RULES", "Answer", "Change", "Finding", "Reasoner", "diff", "lint"]
