"""Findings as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

from tamis.analysis import RULES, Finding

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: list[Finding], file: str, version: str, by_line: bool) -> dict[str, object]:
    """Return the findings as a SARIF log with one run.

    Args:
        findings: The findings.
        file: The file of the subscriptions.
        version: The version of Tamis.
        by_line: Whether each selector is a whole line, so that its columns are known.
    """
    names = list(RULES)
    driver = {
        "name": "tamis lint",
        "version": version,
        "rules": [
            {
                "id": name,
                "shortDescription": {"text": rule.about},
                "defaultConfiguration": {"level": rule.level},
            }
            for name, rule in RULES.items()
        ],
    }
    results = [_result(finding, names, file, by_line) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, names: list[str], file: str, by_line: bool) -> dict[str, object]:
    fields = finding.to_dict()
    kept = ("id", "ids", "selector", "spans", "event", "proof", "suggestion")
    named = f"{finding.id!r}: " if finding.id is not None else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": names.index(finding.rule),
        "level": finding.level,
        "message": {"text": named + finding.message},
        "locations": [_location(finding, span, file, by_line) for span in finding.spans or (None,)],
        "properties": {name: fields[name] for name in kept if name in fields},
    }


def _location(
    finding: Finding, span: tuple[int, int] | None, file: str, by_line: bool
) -> dict[str, object]:
    region: dict[str, object] = {"startLine": max(1, finding.line)}
    if span is not None:
        if by_line:
            region |= {"startColumn": span[0] + 1, "endColumn": span[1] + 1}
        region["snippet"] = {"text": finding.text[span[0] : span[1]]}
    location: dict[str, object] = {
        "physicalLocation": {"artifactLocation": {"uri": file}, "region": region}
    }
    if finding.id is not None:
        location["logicalLocations"] = [{"name": str(finding.id), "kind": "member"}]
    return location
