"""Records of runs as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from lakebed.names import TableName
from lakebed.ports import BatchRun, InputPin, Phase, QuarantinedFile, RunRecord, Verdict


def to_text(record: RunRecord) -> str:
    """The JSON of a record."""
    return json.dumps(asdict(record), default=_plain)


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def from_text(text: str, *, state: str) -> RunRecord:
    """The record in a JSON text; its state is the one of the database's column."""
    document: dict[str, Any] = json.loads(text)
    times = {
        name: _time(document.get(name)) for name in ("started_at", "ended_at", "moment", "asked_at")
    }
    return RunRecord(**_listed(document) | times | {"state": state})


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _listed(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **document,
        "table": TableName(**document["table"]),
        "phases": tuple(Phase(**phase) for phase in document["phases"]),
        "inputs": tuple(
            InputPin(TableName(**pin["table"]), pin["snapshot"]) for pin in document["inputs"]
        ),
        "batches": tuple(BatchRun(**batch) for batch in document.get("batches", ())),
        "touched": tuple(document.get("touched", ())),
        "warnings": tuple(document.get("warnings", ())),
        "set_aside": tuple(QuarantinedFile(**file) for file in document["set_aside"]),
        "verdicts": tuple(
            Verdict(
                **verdict | {"sample": tuple(verdict["sample"]), "tags": tuple(verdict["tags"])}
            )
            for verdict in document["verdicts"]
        ),
    }
