"""Random networks, and the operations on them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st
from tamis_lab.simulation.network import Network, Passage

from tamis.bloom.hashing import Shape
from tamis.routing.strategies import router
from tests.engines.oracle import matching
from tests.strategies import bool_exprs, events, sequences

SHAPES = [Shape(1, 1), Shape(3, 2), Shape(40, 3), Shape(1 << 14, 4)]

# Few constants, so that they cover each other often; and whatever else there is.
simple = st.builds(
    "{} {} {}".format,
    st.sampled_from("ab"),
    st.sampled_from(["=", "<", ">", "<=", ">=", "<>"]),
    st.integers(0, 3),
)
conjunctions = st.lists(simple, min_size=1, max_size=3).map(" AND ".join)
# Some that several want.
common = st.sampled_from(["a = 1", "a > 0", "a > 1 AND b = 1"])
single = st.one_of(common, conjunctions, simple, bool_exprs(depth=2).map(str))
selectors = st.one_of(single, sequences().map(str))
small_events = st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), max_size=3)
any_events = st.one_of(small_events, events())


@st.composite
def trees(draw: st.DrawFn, most: int = 7) -> list[tuple[int, int]]:
    """Draw the edges of a random tree; broker 0 always exists."""
    size = draw(st.integers(1, most))
    return [(draw(st.integers(0, n - 1)), n) for n in range(1, size)]


def name(number: int) -> str:
    return f"b{number}"


@dataclass
class Model:
    """A network, and the interests of its subscribers."""

    network: Network
    wanted: dict[tuple[str, int], str] = field(default_factory=dict)
    made: int = 0

    @classmethod
    def of(cls, strategy: str, shape: Shape, tree: list[tuple[int, int]], pick=None) -> "Model":
        picks = {} if pick is None else {"pick": pick}
        narrow = strategy == "narrow"
        network = Network(lambda: router("edge" if narrow else strategy, shape, narrow), **picks)
        for number in range(len(tree) + 1):
            network.add(name(number))
        for one, other in tree:
            network.link(name(one), name(other))
        return cls(network)

    def subscribe(self, node: str, selector: str) -> None:
        self.made += 1
        self.wanted[node, self.made] = selector
        self.network.subscribe(node, self.made, selector)

    def unsubscribe(self, which: tuple[str, int]) -> None:
        del self.wanted[which]
        self.network.unsubscribe(*which)

    def oracle(self, event: dict[str, object]) -> dict[str, list[int]]:
        """Return the expected ids per broker; those of sequences for events that may be a step."""
        found: dict[str, list[int]] = {}
        for (node, id), selector in self.wanted.items():
            if any(matching({id: each}, event) for each in steps_of(selector)):
                found.setdefault(node, []).append(id)
        return found

    def check(self, passage: Passage) -> None:
        assert passage.delivered == self.reachable(self.oracle(dict(passage.event)), passage.origin)
        assert len(passage.crossed) == len(set(passage.crossed)) == len(passage.hops) - 1

    def reachable(self, found: dict[str, list[int]], origin: str) -> dict[str, list[int]]:
        return {n: ids for n, ids in found.items() if self.network.way(origin, n) is not None}


def steps_of(selector: str) -> Iterator[str]:
    from tamis.language import parse
    from tamis.language.expr import Sequence

    parsed = parse(selector)
    yield from map(str, parsed.steps) if isinstance(parsed, Sequence) else [selector]
