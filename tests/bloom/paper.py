"""The example of the DEBS 2008 paper: Table 1."""

from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape

SHAPE = Shape(1 << 14, 2)

# By source: the predicates, and the bits that the paper's hash functions gave.
TABLE_1 = {
    "f1@dot.com": (["x > 5"], [6066, 8581]),
    "f2@dot.com": (["x >= 0.7"], [2787, 12518]),
    "f3@dot.com": (["x > 15"], [6441, 10582]),
    "f4@dot.com": (["y < 5"], [5037, 8516]),
    "f5@dot.com": (["y = 0"], [5001, 8507]),
    "f6@dot.com": (["x > 15", "y > 0"], [5102, 6441, 8636, 10582]),
}


def blooms() -> dict[str, Bloom]:
    """Return the filters of the table, as they are printed."""
    return {source: Bloom.at(SHAPE, bits) for source, (_, bits) in TABLE_1.items()}
