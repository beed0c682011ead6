"""The ten attributes and the 208 atomic formulas over them (§8, first paragraph).

>>> len(ATOMS), ATOMS[0], ATOMS[-1]
(208, 'i1 = 10', "contains(s4, 'b')")
"""

from __future__ import annotations

INTEGERS = ("i1", "i2", "i3")
DOUBLES = ("d1", "d2", "d3")
STRINGS = ("s1", "s2", "s3", "s4")
NAMES = INTEGERS + DOUBLES + STRINGS

_RELATIONS = ("=", "<>", "<", "<=", ">", ">=")
_NUMBERS = (10, 30, 50, 70)
_TEXTS = ("aa", "bb", "a", "b")
# Equal, unequal, substring ("the attribute occurs in the constant") and superstring.
_TEXT_TESTS = ("{0} = '{1}'", "{0} <> '{1}'", "contains('{1}', {0})", "contains({0}, '{1}')")


def _atoms() -> list[str]:
    numeric = [
        f"{name} {relation} {kind(number)}"
        for names, kind in ((INTEGERS, int), (DOUBLES, float))
        for name in names
        for number in _NUMBERS
        for relation in _RELATIONS
    ]
    textual = [
        test.format(name, text) for name in STRINGS for text in _TEXTS for test in _TEXT_TESTS
    ]
    return numeric + textual


ATOMS = tuple(_atoms())
