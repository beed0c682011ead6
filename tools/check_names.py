"""List names that a reader cannot understand; `make check` fails if there are any.

The rules: a module is a noun (or the verb of its one call) and unique in its distribution; a
function is a verb or noun phrase, never a bare participle; a class is a noun and unique; a kernel
takes at most eight arguments; "judge" is no word of the field.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

DISTRIBUTIONS = (Path("tamis"), Path("lab/tamis_lab"))
MOST_ARGUMENTS = 8
# Words in -ing and -ed that are the nouns (or verbs) of the field.
NOUNS_IN_ING = {"covering", "counting", "encoding", "hashing", "matching", "routing", "string"}
NOT_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed"}
IRREGULAR = set(
    """
    begun broken brought built caught chosen dealt done drawn fallen felt found given gone grown
    held hidden kept known laid led lent lost made meant met paid proven said seen sent shown sold
    spent stood stuck swept taken taught thought told torn worn written
    """.split()
)
# Folders whose modules are told apart by the folder: one per engine, per verb, per paper.
OWNERS = (
    "tamis/engines/",
    "tamis/kernels/",
    "tamis/cli/",
    "lab/tamis_lab/cli/",
    "lab/tamis_lab/workloads/",
)


def main() -> int:
    """Print every offender; return how many there are."""
    offenders = [line for root in DISTRIBUTIONS for line in offenders_in(root)]
    for line in offenders:
        sys.stdout.write(line + "\n")
    return min(len(offenders), 1)


def offenders_in(root: Path) -> Iterator[str]:
    """Yield a line for every bad name of a distribution."""
    modules: dict[str, list[Path]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    for file in sorted(root.rglob("*.py")):
        if file.stem not in ("__init__", "__main__"):
            modules[file.stem].append(file)
        yield from _module_offenders(file)
        tree = ast.parse(file.read_text("utf-8"))
        for node in ast.walk(tree):
            yield from _node_offenders(file, node)
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{file}:{node.lineno}")
    for name, files in modules.items():
        shared = [file for file in files if not _is_told_by_its_folder(file)]
        if len(shared) > 1:
            others = ", ".join(map(str, shared[1:]))
            yield f"{shared[0]}: module name {name!r} is used again: {others}"
    for name, places in classes.items():
        if len(places) > 1 and name not in ("Plan", "Workload"):  # one per engine, one per paper
            yield f"{places[0]}: class name {name!r} is used again: {', '.join(places[1:])}"


def _module_offenders(file: Path) -> Iterator[str]:
    word = file.stem.rpartition("_")[2]
    if word.endswith("ing") and word not in NOUNS_IN_ING:
        yield f"{file}: a module is named with a noun, not with a gerund"
    if "_" not in file.stem and is_participle(file.stem):
        yield f"{file}: a module is named with a noun, not with a participle"


def _node_offenders(file: Path, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        place = f"{file}:{node.lineno}"
        if "judg" in node.name.lower():
            yield f"{place}: {node.name}: say match or evaluate"
        if not isinstance(node, ast.ClassDef):
            if is_participle(node.name.strip("_")) and not _is_public(file, node.name):
                yield f"{place}: {node.name}() is a bare participle; name what it does or returns"
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if len(arguments) > MOST_ARGUMENTS and _is_kernel(node):
                yield f"{place}: kernel {node.name}() takes {len(arguments)} arguments"


def is_participle(word: str) -> bool:
    """Return whether a name is one word, and that word a participle.

    >>> [is_participle(word) for word in ("told", "joined", "feed", "write_part", "read")]
    [True, True, False, False, False]
    """
    if not re.fullmatch("[a-z]+", word) or word in NOT_PARTICIPLES:
        return False
    return word.endswith("ed") or word in IRREGULAR


def _is_told_by_its_folder(file: Path) -> bool:
    if file.stem == file.parent.name:  # match/match.py holds the call match
        return True
    return str(file).startswith(OWNERS) and file.parent.name != "shared"


def _is_kernel(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "kernel" for each in node.decorator_list)


# Names of the public API and of the wire, which stay.
_PUBLIC = {
    ("tamis/matches/matches.py", "limited"),
    ("tamis/broker/client/client.py", "settled"),
    ("tamis/broker/client/sync.py", "settled"),
    ("tamis/gateway/delivery_handlers.py", "acknowledged"),
    ("tamis/spark/backtest.py", "changed"),
}


def _is_public(file: Path, name: str) -> bool:
    return (file.as_posix(), name) in _PUBLIC


if __name__ == "__main__":
    sys.exit(main())
