"""What a broker has done for the overlay since it started."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field


@dataclass
class LinkFigures:
    """Over one link; bytes are those of events, and those of the filters they carried."""

    events_in: int = 0
    events_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    filter_bytes_in: int = 0
    filter_bytes_out: int = 0


@dataclass
class NodeFigures:
    """In all.

    Attributes:
        checks: Events that were held against the node's own subscriptions.
        false_positives: Events that came over a link in vain: nobody here wanted them, and they
            were not sent on.
        looped: Events that came back to where they were published, and were dropped.
        links: By neighbour.
    """

    checks: int = 0
    false_positives: int = 0
    looped: int = 0
    links: dict[str, LinkFigures] = field(default_factory=dict)

    def link(self, neighbour: str) -> LinkFigures:
        """Those of a link."""
        found = self.links.get(neighbour)
        if found is None:
            found = self.links[neighbour] = LinkFigures()
        return found

    def link_dict(self, neighbour: str) -> dict[str, int]:
        """Those of a link, as they are told."""
        return asdict(self.links.get(neighbour) or LinkFigures())
