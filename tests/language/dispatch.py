"""Where code decides by the class of a node, found in the source.

A *table* is a dict, set, tuple or frozenset at module level (or in a class) whose keys or elements
are node classes. A *chain* is a function that compares a node with several classes: `isinstance`,
`type(x) is`, `match`. Reading the source finds both without importing anything, so optional
dependencies of the laboratory's peers do not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tamis.language import expr

ROOT = Path(__file__).parents[2]
SEARCHED = ("tamis", "lab/tamis_lab", "tests/oracles")

NODES: dict[str, type[expr.Node]] = {
    name: value
    for name, value in vars(expr).items()
    if isinstance(value, type) and issubclass(value, expr.Node) and value is not expr.Node
}
# `isinstance(x, STRUCTURE)` names all classes in it.
GROUPS: dict[str, frozenset[str]] = {
    name: frozenset(member.__name__ for member in value)
    for name, value in vars(expr).items()
    if isinstance(value, tuple) and value and all(member in NODES.values() for member in value)
}

# A function that names fewer classes treats a special case, and is no dispatch.
FEWEST_IN_CHAIN = 3
FEWEST_IN_TABLE = 2


@cache
def dispatches() -> dict[str, frozenset[str]]:
    """The node classes that each table and chain names, by `path::name`."""
    found: dict[str, frozenset[str]] = {}
    for folder in SEARCHED:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "tamis.language" in text:
                where = path.relative_to(ROOT).as_posix()
                found |= {f"{where}::{name}": c for name, c in _in_body(ast.parse(text), "")}
    return found


def names_in(path: str) -> frozenset[str]:
    """The node classes that a file uses in any way."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    used = (node for node in ast.walk(tree) if not isinstance(node, ast.ImportFrom))
    return frozenset().union(*map(_class_names, used))


def _in_body(tree: ast.AST, prefix: str) -> Iterator[tuple[str, frozenset[str]]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _in_body(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            classes = frozenset().union(*map(_tested_classes, ast.walk(node)))
            if len(classes) >= FEWEST_IN_CHAIN:
                yield prefix + node.name, classes
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            classes = frozenset().union(*map(_table_classes, ast.walk(node.value)))
            if len(classes) >= FEWEST_IN_TABLE:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                yield prefix + ast.unparse(target), classes


def _tested_classes(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _all_names(node.args[1]) if node.func.id == "isinstance" else frozenset()
    if isinstance(node, ast.Compare):
        return frozenset().union(*map(_all_names, node.comparators))
    return _class_names(node.cls) if isinstance(node, ast.MatchClass) else frozenset()


def _table_classes(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.Dict):
        return frozenset().union(*(_class_names(key) for key in node.keys if key is not None))
    if isinstance(node, ast.Tuple | ast.Set):
        return frozenset().union(*map(_class_names, node.elts))
    return frozenset()


def _all_names(tree: ast.AST) -> frozenset[str]:
    return frozenset().union(*map(_class_names, ast.walk(tree)))


def _class_names(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.Starred):
        node = node.value
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return GROUPS.get(name) or frozenset([name]) & NODES.keys()
