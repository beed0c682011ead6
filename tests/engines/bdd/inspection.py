"""A parser for drawings of diagrams."""

import re
from dataclasses import dataclass, field

import tamis

_NODE = re.compile(r'  n(\d+) \[(?:shape=box, )?label="((?:[^"\\]|\\.)*)"')
_EDGE = re.compile(r'  n(\d+) -> n(\d+) \[(style=dashed, )?label="(\d)"\]')
_NAME = re.compile(r'  s(\d+) \[shape=plaintext, label="([^"]*)"\]')


@dataclass
class Drawn:
    """The nodes by number: labels, successors, which are thick, and the ids at each."""

    label: dict[int, str] = field(default_factory=dict)
    low: dict[int, int] = field(default_factory=dict)
    high: dict[int, int] = field(default_factory=dict)
    thick: set[int] = field(default_factory=set)
    outputs: dict[str, int] = field(default_factory=dict)


def drawn(matcher: tamis.Matcher) -> Drawn:
    found = Drawn()
    for line in matcher.to_dot().splitlines():
        if node := _NODE.match(line):
            found.label[int(node[1])] = node[2]
            if "penwidth" in line:
                found.thick.add(int(node[1]))
        elif edge := _EDGE.match(line):
            (found.low if edge[3] else found.high)[int(edge[1])] = int(edge[2])
            assert (edge[4] == "0") == bool(edge[3])
        elif name := _NAME.match(line):
            found.outputs |= dict.fromkeys(name[2].split(", "), int(name[1]))
    return found
