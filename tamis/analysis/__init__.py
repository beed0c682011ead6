"""Reasoning about rule sets with BDDs: what is dead, doubled or covered, and what a change changes.

Every verdict is proved, or shown by an event that was tried on the meaning itself, or it is
"undecided"; docs/guides/lint.md says how.
"""

from __future__ import annotations

from tamis.analysis.diff import KINDS, Change, diff
from tamis.analysis.findings import RULES, Finding
from tamis.analysis.lint import lint
from tamis.analysis.reasoner import Answer, Reasoner

__all__ = ["KINDS", "RULES", "Answer", "Change", "Finding", "Reasoner", "diff", "lint"]
