"""Kartothek datasets as JSON-ready values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakebed.names import id_text
from lakebed.presentation.values import fields_of

if TYPE_CHECKING:
    from lakebed.kartothek.exchange.exporting import ExportResult
    from lakebed.kartothek.history.versions import DatasetVersion
    from lakebed.kartothek.lifecycle.describing import DatasetDescription, DatasetSummary
    from lakebed.kartothek.lifecycle.findings import DatasetFinding


def datasets_json(found: "Sequence[DatasetSummary]") -> list[dict[str, Any]]:
    """The datasets of a location."""
    return [fields_of(one) for one in found]


def dataset_json(found: "DatasetDescription") -> dict[str, Any]:
    """One dataset."""
    tables = {
        name: [{"name": column, "type": type_} for column, type_ in columns]
        for name, columns in found.tables.items()
    }
    return fields_of(found, tables=tables)


def verified_json(dataset: str, findings: "Sequence[DatasetFinding]") -> dict[str, Any]:
    """What a check of a dataset found."""
    problems = sum(one.level == "problem" for one in findings)
    return {
        "dataset": dataset,
        "problems": problems,
        "findings": [fields_of(one) for one in findings],
    }


def garbage_json(dataset: str, paths: Sequence[str], *, dry_run: bool) -> dict[str, Any]:
    """The files that garbage collection removed, or would remove."""
    return {"dataset": dataset, "removed": list(paths), "dry_run": dry_run}


def versions_json(found: "Sequence[DatasetVersion]") -> list[dict[str, Any]]:
    """The states of a dataset that can be read."""
    return [fields_of(one) for one in found]


def kept_json(dataset: str, *, days: float) -> dict[str, Any]:
    """For how long a dataset keeps its states."""
    return {"dataset": dataset, "days": days}


def export_json(result: "ExportResult") -> dict[str, Any]:
    """What an export did."""
    return fields_of(result, snapshot=id_text(result.snapshot))
