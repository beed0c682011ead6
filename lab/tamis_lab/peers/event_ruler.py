"""Java's Event Ruler: the matcher behind Amazon EventBridge."""

from __future__ import annotations

import re

from tamis_lab.peers.drivers import JAVA, SOURCES, driver_runner
from tamis_lab.peers.patterns import Patterns
from tamis_lab.peers.peer import Peer

NAME = "event-ruler"


class EventRulerPatterns(Patterns):
    """The complete pattern language."""

    peer = NAME


def java_version(artifact: str) -> str:
    """Return the version of a package in the driver's pom.xml."""
    pom = (SOURCES / "java/pom.xml").read_text()
    found = re.search(rf"<artifactId>{artifact}</artifactId>\s*<version>(.+?)</version>", pom)
    return found[1] if found else "unknown"


EVENT_RULER = Peer(
    name=NAME,
    about="Java Event Ruler",
    takes="JSON text",
    unavailable=JAVA.unavailable,
    version=lambda: java_version(NAME),
    translate=EventRulerPatterns.translate,
    run=driver_runner(JAVA, NAME),
    prepare=JAVA.build,
)
