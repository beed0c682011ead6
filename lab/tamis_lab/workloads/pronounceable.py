"""Pronounceable pseudo-words, where a paper uses English words.

No word list is stored or downloaded: words are assembled from syllables, by a seed.

>>> words(5, seed=1)
('baungskestau', 'dornsteesee', 'plugleelljult', 'chirtkruspoorn', 'sneicrond')
"""

from __future__ import annotations

from functools import lru_cache

from tamis.paths import RESERVED
from tamis_lab.workloads.random_draws import POOLS, generator

_ONSETS = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kr l m n p pl pr qu r s sc sh sk sl sm sn sp st "
    "str t th tr v w z"
).split()
_VOWELS = "a e i o u a e i o u ai au ea ee ei oa oo ou".split()
_CODAS = [*[""] * 20, *"b d g k l m n p r s t x ck ct ld ll lt nd ng nt rn rt st".split()]
_SYLLABLES = [onset + vowel + coda for onset in _ONSETS for vowel in _VOWELS for coda in _CODAS]


@lru_cache(maxsize=8)
def words(count: int, seed: int) -> tuple[str, ...]:
    """Return different words of two or three syllables, none of them a keyword of selectors."""
    rng = generator(seed, POOLS)
    found: dict[str, None] = {}
    while len(found) < count:
        picks = rng.integers(len(_SYLLABLES), size=(count, 3))
        longer = rng.random(count) < 0.5
        for (first, second, third), three in zip(picks.tolist(), longer.tolist(), strict=True):
            word = _SYLLABLES[first] + _SYLLABLES[second] + (_SYLLABLES[third] if three else "")
            if word.upper() not in RESERVED:
                found[word] = None
    return tuple(found)[:count]
