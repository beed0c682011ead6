"""Run all peers on the same rules and events, one after the other, and check their answers."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tamis.errors import UnsupportedExpression
from tamis.language import to_text
from tamis.matcher import Matcher
from tamis_lab.harness.measure import Report, Row
from tamis_lab.peers.drivers import ATTRIBUTES, CannotBuild
from tamis_lab.peers.peer import Limits, Outcome, Peer, Texts
from tamis_lab.peers.peer_catalogue import PEERS
from tamis_lab.peers.peer_workload import PeerWorkload, peer_workload, put_rules
from tamis_lab.peers.tamis_peer import TAMIS

LIMITS = Limits(build=10.0, match=1.5, sample=100)
# Rules times events that the oracle evaluates: a minute's work or less.
ORACLE = 1_000_000
FEWEST = 10  # events of the sample
# More rules of these would take an hour, and few peers can express all of them.
MOST_RULES: Mapping[str, int] = {"bdd2001": 10_000, "flights": 10_000}


@dataclass
class Contest:
    """One workload at one size.

    Attributes:
        folder: The folder with the input of the peers.
        workload: The rules and events.
        limits: How long they may take, and how many events the sample has.
        right: The ids that match each event of the sample, according to the oracle.
    """

    folder: Path
    workload: PeerWorkload
    limits: Limits
    right: list[list[int]] = field(default_factory=list)


def contests(
    peers: Sequence[str],
    workload: str,
    sizes: Sequence[int],
    say: Report,
    limits: Limits | None = None,
) -> Iterator[Row]:
    """Yield a row per peer and size; a peer that failed or timed out gets no larger size."""
    fell_short: dict[str, str] = {}
    for size in sizes:
        if size > MOST_RULES.get(workload, size):
            continue
        with tempfile.TemporaryDirectory(prefix="tamis-peers-") as folder:
            say(f"{workload}: {size:,} rules; computing the correct answers …")
            contest = _prepare_contest(Path(folder), workload, size, limits or LIMITS)
            best: float | None = None
            for name in peers:
                row = _row(PEERS[name], contest, fell_short, say)
                rate = row["events_per_s"]
                if name == TAMIS.name and isinstance(rate, float):
                    best = rate
                complete = row["rules"] == row["asked"] and isinstance(rate, float)
                ratio = best / rate if best and complete else ""  # type: ignore[operator]
                yield {**row, "tamis_is_times": ratio, "note": row.pop("note")}


def _prepare_contest(folder: Path, workload: str, size: int, limits: Limits) -> Contest:
    work = peer_workload(workload, size)
    work.put_events(folder)
    kinds = {name: kind.type.value for name, kind in work.kinds.items()}
    (folder / ATTRIBUTES).write_text(json.dumps(kinds), encoding="utf-8")
    sample = max(FEWEST, min(limits.sample, ORACLE // size))
    contest = Contest(folder, work, limits._replace(sample=sample))
    oracle = Matcher(engine="brute")
    oracle.add_many((number, to_text(rule)) for number, rule in enumerate(work.rules))
    found = oracle.match_batch(work.table.slice(0, sample)).per_event()
    contest.right += [sorted(map(int, ids)) for ids in found]
    return contest


def _row(peer: Peer, contest: Contest, fell_short: dict[str, str], say: Report) -> Row:
    asked = len(contest.workload.rules)
    row: Row = {
        "workload": contest.workload.name,
        "asked": asked,
        "peer": peer.name,
        "version": "",
        "takes": peer.takes,
        "rules": 0,
        "can_say": "",
        "events": 0,
        "events_per_s": "",
        "build_s": "",
        "match_s": "",
        "peak_mb": "",
        "matches_per_event": "",
        "equal": "",
        "equal_on": 0,
        "note": "",
    }
    reason = fell_short.get(peer.name) or peer.unavailable() or _preparation_error(peer, say)
    if reason:
        fell_short[peer.name] = reason
        say(f"  {peer.name}: skipped, {reason}")
        return row | {"note": f"skipped: {reason}"}
    say(f"  {peer.about} …")
    said = _translate_rules(peer, contest)
    row |= {"can_say": len(said) / asked, "version": peer.version()}
    if not said:
        return row | {"note": "skipped: it cannot express any of these rules"}
    put_rules(contest.folder, said)
    outcome, fault = _outcome(lambda: peer.run(contest.folder, contest.limits))
    if outcome is None:
        fell_short[peer.name] = f"with {asked:,} rules it {fault}"
        return row | {"note": fault}
    note = ""
    if outcome["rules"] < len(said):
        note = f"loaded {outcome['rules']:,} of {len(said):,} rules in {contest.limits.build:.0f} s"
        fell_short[peer.name] = f"of {asked:,} rules it {note}"
    elif len(said) < asked:
        note = "cannot express the others"
    return row | _figures(outcome, said, contest) | {"note": note}


def _preparation_error(peer: Peer, say: Report) -> str | None:
    """Prepare a peer; return why it could not be prepared, or None."""
    try:
        peer.prepare(say)
    except CannotBuild as error:
        return str(error)
    return None


def _translate_rules(peer: Peer, contest: Contest) -> list[tuple[int, Texts]]:
    """Translate the rules that a peer can express to its language."""
    said = []
    for number, rule in enumerate(contest.workload.rules):
        try:
            said.append((number, peer.translate(rule, contest.workload.kinds)))
        except UnsupportedExpression:
            continue
    return said


def _outcome(run: Callable[[], Outcome]) -> tuple[Outcome | None, str]:
    """Run a peer; return its outcome, or what went wrong."""
    try:
        return run(), ""
    except subprocess.TimeoutExpired as error:
        return None, f"failed: took longer than {error.timeout:.0f} s"
    except subprocess.CalledProcessError as error:
        said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        return None, f"failed: {said[0][:200] if said else f'exit code {error.returncode}'}"


def _figures(outcome: Outcome, said: list[tuple[int, Texts]], contest: Contest) -> Row:
    """Return the row of a run; answers are compared as far as they go, on the rules it loaded."""
    had = {number for number, _ in said[: outcome["rules"]]}
    answers = [sorted(ids) for ids in outcome["answers"]]
    right = [[n for n in ids if n in had] for ids in contest.right[: len(answers)]]
    return {
        "rules": outcome["rules"],
        "events": outcome["events"],
        "events_per_s": outcome["events"] / outcome["match_s"],
        "build_s": outcome["build_s"],
        "match_s": outcome["match_s"],
        "peak_mb": outcome["peak_mb"],
        "matches_per_event": sum(map(len, right)) / len(right),
        "equal": "yes" if answers == right else "NO",
        "equal_on": len(answers),
    }
