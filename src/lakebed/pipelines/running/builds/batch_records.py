"""The record of a run of a source or a backfill. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lakebed.batches.changes import DueBatch
from lakebed.batches.refused_paths import BadBatchKey
from lakebed.errors import LakebedError
from lakebed.ports import BatchRun, Phase, RunRecord, Verdict

_METRIC = "partition_alternate"
_SHOWN = 10


def failed_line(line: BatchRun, due: DueBatch, error: LakebedError) -> BatchRun:
    """What the record says about a batch that failed."""
    size = (due.found.files, due.found.bytes) if due.found else (0, 0)
    return replace(line, state="failed", error=error.what, files=size[0], bytes=size[1])


def refused_line(bad: BadBatchKey, error: LakebedError) -> BatchRun:
    """What the record says about files that are in no batch."""
    found = BatchRun(bad.label, "failed", "unreadable", bad.files, bad.bytes, attempts=0)
    return replace(found, error=error.what)


def without_repeats(record: RunRecord) -> RunRecord:
    """Phases of the same name are one, however many batches there are."""
    seconds: dict[str, float] = {}
    for phase in record.phases:
        seconds[phase.name] = seconds.get(phase.name, 0.0) + phase.seconds
    phases = (Phase(name, round(taken, 3)) for name, taken in seconds.items())
    return replace(record, phases=tuple(phases))


@dataclass(frozen=True)
class LayoutsAfter:
    """The layouts of the table: what there is to say about them, and what they take."""

    notes: tuple[str, ...] = ()
    bytes: int = 0


NO_LAYOUTS = LayoutsAfter()


def finished_record(
    record: RunRecord,
    errors: Mapping[str, LakebedError],
    *,
    due: int,
    unchanged: int,
    source_bytes: int | None,
    seconds: float,
    now: datetime,
    head: Mapping[str, str],
    failed: Sequence[Verdict] = (),
    layouts: LayoutsAfter = NO_LAYOUTS,
) -> RunRecord:
    """The record at the end; `head` is the summary of the table's newest snapshot, `failed` what
    gates found in batches that were not published.

    A backfill has no `source_bytes`, and no metrics of files.
    """
    done = [batch for batch in record.batches if batch.state == "success"]
    left = due - len(record.batches)
    kept = "done before" if source_bytes is None else "unchanged"
    written = "1 batch" if len(done) == 1 else f"{len(done)} batches"
    message = f"{written} written, {unchanged} {kept}"
    message += f", {len(errors)} failed" if errors else ""
    message += f", {left} left to the next run" if left else ""
    stored = int(head.get("total-files-size", 0)) + layouts.bytes
    return replace(
        record,
        state="failed" if errors or left else "success",
        ended_at=now,
        rows=_rows(done, head),
        files={} if source_bytes is None else {"source": sum(batch.files for batch in done)},
        message="; ".join((message, *layouts.notes)),
        verdicts=(*record.verdicts, *failed[:_SHOWN]),
        metrics=(
            {}
            if source_bytes is None
            else metrics(done, stored=stored, source_bytes=source_bytes, seconds=seconds)
        ),
        error=_error(errors, due) if errors else _interrupted() if left else {},
    )


def _rows(done: Iterable[BatchRun], head: Mapping[str, str]) -> dict[str, int]:
    total = {"total": int(head["total-records"])} if "total-records" in head else {}
    return {"result": sum(batch.rows or 0 for batch in done), **total}


def metrics(
    done: Iterable[BatchRun], *, stored: int, source_bytes: int, seconds: float
) -> dict[str, float]:
    """The metrics of a run; of its batches, the largest value."""
    largest: dict[str, float] = {}
    for batch in (*done, BatchRun("", "success", "")):
        for name, value in batch_metrics(batch).items():
            largest[name] = max(value, largest.get(name, 0))
    return largest | {
        f"{_METRIC}.total_duration_ms": round(seconds * 1000),
        f"{_METRIC}.storage.amplification": round(stored / source_bytes, 3) if source_bytes else 0,
    }


def batch_metrics(batch: BatchRun) -> dict[str, float]:
    """The metrics of one batch."""
    return {
        f"{_METRIC}.batch.duration_ms": round(batch.seconds * 1000),
        f"{_METRIC}.batch.files_processed": batch.files,
        f"{_METRIC}.batch.bytes_processed": batch.bytes,
    }


def _error(errors: Mapping[str, LakebedError], due: int) -> dict[str, str]:
    first = next(iter(errors.values()))
    told = [f"{label or 'all'}: {error.what}" for label, error in errors.items()]
    more = [f"and {len(told) - _SHOWN:,} more"] if len(told) > _SHOWN else []
    what = "\n".join((f"{len(errors)} of {due} batches failed.", *told[:_SHOWN], *more))
    safe = "Batches that were written stand; those that failed are as they were."
    return first.as_dict() | {"what": what, "safe": safe}


def _interrupted() -> dict[str, str]:
    return {
        "kind": "RunFailed",
        "what": "it was interrupted.",
        "where": "",
        "safe": "Batches that were written stand.",
        "next": "Run it again: it goes on with the others.",
    }
