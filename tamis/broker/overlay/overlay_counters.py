"""The overlay counters of a broker, since it started."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field


@dataclass
class LinkFigures:
    """The counters of one link: events, their bytes, and the bytes of the filters they carried."""

    events_in: int = 0
    events_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    filter_bytes_in: int = 0
    filter_bytes_out: int = 0


@dataclass
class NodeFigures:
    """The counters of a node.

    Attributes:
        checks: Events that were matched against the node's own subscriptions.
        false_positives: Events that came over a link and were neither delivered nor forwarded.
        looped: Events that returned to the node where they were published, and were dropped.
        links: The counters of each link, by neighbour.
    """

    checks: int = 0
    false_positives: int = 0
    looped: int = 0
    links: dict[str, LinkFigures] = field(default_factory=dict)

    def link(self, neighbour: str) -> LinkFigures:
        """Return the counters of a link."""
        figures = self.links.get(neighbour)
        if figures is None:
            figures = self.links[neighbour] = LinkFigures()
        return figures

    def link_dict(self, neighbour: str) -> dict[str, int]:
        """Return the counters of a link as a dict, for the status."""
        return asdict(self.links.get(neighbour) or LinkFigures())
