"""What fsck found and rebuilt, as JSON-ready values."""

from typing import TYPE_CHECKING, Any

from lakebed.presentation.values import fields_of, json_ready

if TYPE_CHECKING:
    from lakebed.care.fsck import Finding, FsckReport, RebuildReport


def fsck_json(report: "FsckReport") -> dict[str, Any]:
    """All findings, what was looked at, and what was repaired."""
    return {
        "findings": [_finding(found) for found in report.findings],
        "looked": json_ready(report.looked),
        "mended": json_ready(report.repairs),
        "problems": report.problems,
    }


def _finding(found: "Finding") -> dict[str, Any]:
    return {
        "kind": found.kind,
        "severity": found.severity,
        "where": found.where,
        "what": found.what,
        "repair": str(found.repair) if found.repair else None,
        "advice": found.advice,
    }


def rebuilt_json(rebuilt: "RebuildReport") -> dict[str, Any]:
    """The tables that were registered again, and the metadata files that were not."""
    return fields_of(rebuilt)
