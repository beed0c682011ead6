r"""Queries from a grammar whose rules have probabilities (§8, "Query Generation").

The paper's generator reads a grammar in an extended BNF; the file itself is not in the paper. A
rule here is a name and its alternatives, each with its probability in brackets; quoted text is
literal:

>>> coin = Grammar.of('toss = [0.5] "heads" | [0.5] "tails"\ntwo = [1] toss ", " toss')
>>> coin.derive("two", iter([0.1, 0.3, 0.9]).__next__)
'heads, tails'

`grammar()` is our own. A query is a chain: an atom, joined to the rest of the query in parentheses.
It has 1 + Poisson(6.6) atoms. Atoms and chains are negated with a probability that gives 1.1 NOTs:
together 7.6 atoms and 7.7 operators, as in the paper. Seven of ten joins are AND. Of the forms that
we tried, this is the one whose diagrams have about as many nodes as the paper's, before and after
restriction.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from tamis.errors import InputError
from tamis_lab.workloads.bdd2001.atoms import ATOMS
from tamis_lab.workloads.bdd2001.queries import MEAN_ATOMS, NEGATED

CONJUNCTIVE = 0.7
LONGEST = 30  # atoms; one query of a hundred million would have more

# A quoted text, a probability, a name, or the bar between alternatives.
_TOKEN = re.compile(r'"([^"]*)"|\[([^\]]*)\]|(\w+)|(\|)|(\S)')


@dataclass(frozen=True)
class Production:
    """The alternatives of a name.

    Attributes:
        bounds: The upper bound of each alternative in the range from 0 to 1, without the last.
        alternatives: The parts of each; a name is in a tuple, to distinguish it from a text.
    """

    bounds: tuple[float, ...]
    alternatives: tuple[tuple[str | tuple[str], ...], ...]


@dataclass(frozen=True)
class Grammar:
    """Rules by name."""

    rules: Mapping[str, Production]

    @classmethod
    def of(cls, text: str) -> Grammar:
        """Parse a grammar, one rule a line.

        Raises:
            InputError: A line is not a rule, or a name has no rule.
        """
        rules = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            name, equals, right = line.partition("=")
            if not equals or not name.strip().isidentifier():
                raise InputError(
                    f"line {number} is not a rule; write: name = [probability] parts | …"
                )
            rules[name.strip()] = _rule(right, number)
        for name, rule in rules.items():
            for part in (part for parts in rule.alternatives for part in parts):
                if isinstance(part, tuple) and part[0] not in rules:
                    raise InputError(f"the rule {name!r} uses {part[0]!r}, which has no rule")
        return cls(rules)

    def derive(self, start: str, random: Callable[[], float]) -> str:
        """Derive a text from a name; `random` returns numbers from 0 to 1."""
        rules = self.rules
        texts: list[str] = []
        pending: list[str | tuple[str]] = [(start,)]
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                texts.append(part)
            else:
                rule = rules[part[0]]
                chosen = rule.alternatives[bisect(rule.bounds, random())]
                pending.extend(reversed(chosen))
        return "".join(texts)


def _rule(right: str, number: int) -> Production:
    shares: list[float] = []
    alternatives: list[list[str | tuple[str]]] = []
    begun = False
    for text, share, name, bar, odd in _TOKEN.findall(right):
        if odd or (share != "") is begun:
            wanted = "only one probability" if begun else "its probability, as in [0.5]"
            raise InputError(f"line {number}: an alternative starts with {wanted}")
        if share:
            try:
                shares.append(float(share))
            except ValueError:
                raise InputError(f"line {number}: {share!r} is not a probability") from None
            alternatives.append([])
            begun = True
        elif bar:
            begun = False
        else:
            alternatives[-1].append((name,) if name else text)
    if not begun or not math.isclose(sum(shares), 1.0, abs_tol=1e-6) or min(shares) < 0:
        raise InputError(f"line {number}: the probabilities of the alternatives must add up to 1")
    return Production(tuple(accumulate(shares[:-1])), tuple(map(tuple, alternatives)))


@cache
def grammar(conjunctive: float = CONJUNCTIVE) -> Grammar:
    """Return our grammar; `conjunctive` is the fraction of joins that are AND."""
    mean = MEAN_ATOMS - 1
    sizes = [math.exp(-mean) * mean**n / math.factorial(n) for n in range(LONGEST)]
    sizes[-1] += 1 - sum(sizes)
    either = [(share, f"chain{n}") for n, share in enumerate(sizes, 1)]
    lines = [
        _line("query", either),
        _line("part", [(1 - NEGATED, "atom"), (NEGATED, '"NOT " atom')]),
        _line("atom", [(1 / len(ATOMS), f'"{atom}"') for atom in ATOMS]),
        _line("join", [(conjunctive, '" AND "'), (1 - conjunctive, '" OR "')]),
        "chain1 = [1] part",
        # The last atom of a chain needs no parentheses.
        _line("chain2", _with_negation("part join part")),
    ]
    lines += [
        _line(f"chain{n}", _with_negation(f'part join "(" chain{n - 1} ")"'))
        for n in range(3, LONGEST + 1)
    ]
    return Grammar.of("\n".join(lines))


def _with_negation(parts: str) -> list[tuple[float, str]]:
    return [(1 - NEGATED, parts), (NEGATED, f'"NOT (" {parts} ")"')]


def _line(name: str, alternatives: list[tuple[float, str]]) -> str:
    return f"{name} = " + " | ".join(f"[{share!r}] {parts}" for share, parts in alternatives)
