"""Runs, builds and gate results as JSON-ready values."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakebed.names import id_text
from lakebed.presentation.values import fields_of

if TYPE_CHECKING:
    from lakebed.pipelines import BuildResult
    from lakebed.pipelines.preview.selected import GateResults
    from lakebed.ports import InputPin, RunRecord

_SLOW_BATCH = 60  # seconds
_AMPLIFIED = 3
_LABELS = {"failed": "ERROR", "skipped": "SKIP", "running": "RUN"}


def run_label(record: "RunRecord") -> str:
    """OK, WARN (a gate warned, files were quarantined, or the record has warnings), ERROR, SKIP, or
    NOOP (nothing to do).
    """
    if record.state != "success":
        return _LABELS[record.state]
    if record.warnings:
        return "WARN"
    if record.message and not record.phases:
        return "NOOP"
    warned = not all(verdict.passed for verdict in record.verdicts)
    return "WARN" if record.set_aside or warned else "OK"


def cost_warnings(record: "RunRecord") -> Iterator[str]:
    """What a run of a source cost that is more than it should."""
    slow = [batch for batch in record.batches if batch.seconds > _SLOW_BATCH]
    if slow:
        slowest = max(slow, key=lambda batch: batch.seconds)
        yield (
            f"{len(slow)} of {len(record.batches)} batches took more than {_SLOW_BATCH} s,"
            f" {slowest.label or 'all'} {slowest.seconds:.0f} s: finer batch_partition_columns"
            " make a failure cost less"
        )
    factor = record.metrics.get("partition_alternate.storage.amplification", 0)
    if factor > _AMPLIFIED:
        yield (
            f"table and layouts take {factor:g} times the bytes of the source; more than"
            f" {_AMPLIFIED} is seldom worth it: lakebed layout ls {record.table}"
        )


def run_seconds(record: "RunRecord") -> float:
    """How long a run took, or has taken so far."""
    from lakebed.pipelines.lineage.artifacts import elapsed

    return elapsed(record)


def run_json(record: "RunRecord") -> dict[str, Any]:
    """A run's record."""
    return fields_of(
        record,
        table=str(record.table),
        inputs=[pin_json(pin) for pin in record.inputs],
        batches=[fields_of(batch, snapshot=id_text(batch.snapshot)) for batch in record.batches],
        seconds=round(run_seconds(record), 3),
        base=id_text(record.base),
        snapshot=id_text(record.snapshot),
    )


def run_with_log_json(record: "RunRecord", log: str | None) -> dict[str, Any]:
    """A run's record, with its log if there is one."""
    return run_json(record) | ({} if log is None else {"log": log})


def pin_json(pin: "InputPin") -> dict[str, Any]:
    """A table that was read, and which snapshot of it."""
    return {"table": str(pin.table), "snapshot": id_text(pin.snapshot)}


def build_json(result: "BuildResult", *, seconds: float) -> dict[str, Any]:
    """A build: all its runs."""
    return {
        "invocation": result.invocation,
        "ok": result.ok,
        "seconds": round(seconds, 3),
        "runs": [run_json(record) | {"label": run_label(record)} for record in result.records],
        "left_out": list(map(str, result.left_out)),
    }


def gates_label(judged: "GateResults") -> str:
    """PASS, WARN, FAIL where a gate failed that does not only warn, or SKIP where none
    could run.
    """
    if judged.reason:
        return "SKIP"
    if any(verdict.blocks for verdict in judged.verdicts):
        return "FAIL"
    return "PASS" if all(verdict.passed for verdict in judged.verdicts) else "WARN"


def gates_json(judged: "GateResults") -> dict[str, Any]:
    """The gates of a pipeline, run on what is published."""
    return fields_of(judged, table=str(judged.table), label=gates_label(judged))
