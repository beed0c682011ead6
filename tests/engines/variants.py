"""The engines of the conformance suite: all of `tamis.ENGINES`, with all their options."""

import tamis
from tests.soak import SOAK

_WAYS: dict[str, list[dict[str, object]]] = {
    "atree": [{"filter": name} for name in ("general", "zero-suppression", "tvp")],
    "bdd": [{"restrict": False}] if SOAK else [],  # its own tests have both
    "block": [{"threads": 2}],
}
VARIANTS: dict[str, dict[str, object]] = {
    "-".join([name, *map(str, options.values())]): {"engine": name, **options}
    for name in sorted(tamis.ENGINES)
    for options in [{}, *_WAYS.get(name, [])]
}

# These support any selector; the others support conjunctions only.
WHOLE = [
    name
    for name, way in VARIANTS.items()
    if way["engine"] not in ("counting", "forest", "gryphon", "siena")
]


def matcher(variant: str, **arguments: object) -> tamis.Matcher:
    """Create a matcher with one of the variants as its engine."""
    return tamis.Matcher(**VARIANTS[variant], **arguments)  # type: ignore[arg-type]
