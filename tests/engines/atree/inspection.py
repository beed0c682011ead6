"""An A-Tree read back: its nodes as expressions, its answers as ids."""

from collections.abc import Mapping

from tamis.engines.atree import AtreeEngine
from tamis.engines.atree.filters import FILTERS as _FILTERS
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.kernels.atree.node_store import (
    AND,
    AT_LEAST,
    COMPARE,
    COUNT,
    LEAF,
    NAND,
    NOR,
    NOT,
    OR,
    VALUE,
    XOR,
)
from tamis.language.expr import Arithmetic, Call, Custom, Negate

FILTERS = list(_FILTERS)
EITHER_WAY = {AND: "∧", OR: "∨", XOR: "⊕", NAND: "⊼", NOR: "⊽", COUNT: "#"}


def engine_of(filter: str | None, subscriptions: Mapping[str, str]) -> AtreeEngine:
    """Create an engine with these subscriptions, all of the same priority."""
    engine = AtreeEngine(filter)
    for id, text in subscriptions.items():
        engine.add(Subscription.of(id, text))
    return engine


def answer(engine: AtreeEngine, event: Mapping[str, object], limit: int | None = None) -> list:
    """Return the ids that an event satisfies, in order, limited as by a Matcher."""
    matches = engine.match(EventBatch.of([event]), limit)
    return (matches if limit is None else matches.limited(limit)).of_event(0)


def root_of(engine: AtreeEngine, id: str) -> int:
    """Return the root of a subscription."""
    (code,) = (code for code, known in enumerate(engine._ids) if known == id)
    return engine.tree.root(code)


def expressions(engine: AtreeEngine) -> dict[str, int]:
    """Return all nodes by expression, e.g. `(a = 1 ∧ (b = 1 ∧ c = 1))`.

    Of commutative operands the shorter comes first, then the alphabet.
    """
    found = {node: expression(engine, node) for node in engine.tree.nodes()}
    by_text = {text: node for node, text in found.items()}
    assert len(by_text) == len(found), "two nodes say the same"
    return by_text


def expression(engine: AtreeEngine, node: int) -> str:
    """Return the expression of a node."""
    tree = engine.tree
    operator, k, n = tree.function_parts(node)
    if operator == LEAF:
        return str(engine.index.predicate(tree.predicate(node)))
    parts = [expression(engine, child) for child in tree.children(node)]
    label = tree.labels.get(node)
    if operator == NOT:
        return f"¬{parts[0]}"
    if operator == AT_LEAST:
        return f"{k} of {n}({', '.join(_in_order(parts))})"
    if operator in EITHER_WAY:
        return f"({f' {EITHER_WAY[operator]} '.join(_in_order(parts))})"
    if operator == COMPARE:
        return f"({parts[0]} {label.op} {parts[1]})"
    assert operator == VALUE
    if not parts:
        return str(label)
    if isinstance(label, Arithmetic):
        return f"({parts[0]} {label.op} {parts[1]})"
    names = {Call: "function", Custom: "name"}
    name = "-" if isinstance(label, Negate) else getattr(label, names.get(type(label), ""), label)
    return f"{name}({', '.join(parts)})"


def _in_order(parts: list[str]) -> list[str]:
    return sorted(parts, key=lambda part: (len(part), part))
