"""Runs and gates in words: how a run ended, what failed and why, and a build's summary."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lakebed.cli.output.formats import format_count, plural, shorten
from lakebed.presentation.run import cost_warnings, run_label, run_seconds

if TYPE_CHECKING:
    from lakebed.ports import RunRecord, Verdict

_ROWS = 3  # bad rows shown under a line
_BATCHES = 50  # shown of a run; all of them are in its JSON


def run_details(record: "RunRecord") -> str:
    """`draft: incremental, 12 rows, 2 gates passed in 4.1 s`."""
    if run_label(record) in {"SKIP", "NOOP"}:
        return (
            f"{run_source(record)}: {record.message}"
            if run_label(record) == "NOOP"
            else record.message
        )
    parts = [record.strategy] if record.strategy else []
    if record.message:
        parts.append(record.message)
    elif "result" in record.rows:
        parts.append(plural(record.rows["result"], "row"))
    if record.set_aside:
        parts.append(f"{plural(len(record.set_aside), 'file')} set aside")
    if record.verdicts:
        passed = sum(verdict.passed for verdict in record.verdicts)
        all_passed = passed == len(record.verdicts)
        parts.append(
            f"{plural(passed, 'gate')} passed"
            if all_passed
            else f"{passed} of {len(record.verdicts)} gates passed"
        )
    if record.attempt > 1:
        parts.append(f"attempt {record.attempt}")
    return (
        f"{': '.join(filter(None, (run_source(record), ', '.join(parts))))} in"
        f" {run_seconds(record):.1f} s"
    )


def batch_lines(record: "RunRecord") -> Iterator[str]:
    """What a run of a source or a backfill did about each batch."""
    if record.backfill:
        yield f"backfill of {record.backfill}"
    for batch in record.batches[:_BATCHES]:
        done = f"{plural(batch.rows or 0, 'row')} in {batch.seconds:.1f} s"
        told = done if batch.state == "success" else f"failed: {batch.error}"
        files = f", {plural(batch.files, 'file')}" if batch.reason != "backfill" else ""
        yield f"batch {batch.label or 'all'} ({batch.reason}{files}): {told}"
    if len(record.batches) > _BATCHES:
        yield f"… and {len(record.batches) - _BATCHES:,} more batches: lakebed runs show --json"


def run_source(record: "RunRecord") -> str:
    """`release 3`, or `draft`."""
    return "draft" if record.version is None else f"release {record.version}"


def run_problems(record: "RunRecord", *, longest: int | None = None) -> Iterator[str]:
    """What went wrong: the error and what to do next, failed gates, quarantined files, warnings."""
    error = record.error
    if error:
        where = f"{error['where']}: " if error.get("where") else ""
        yield from f"{where}{error.get('what', '')}".rstrip().splitlines()
        yield from filter(None, (error.get("safe"), error.get("next")))
    for verdict in record.verdicts:
        if not verdict.passed:
            yield from failed_gate(verdict, longest=longest)
    for file in record.set_aside:
        yield f"set aside: {file.path}: {file.reason}"
    if not error:
        yield from retry_advice(record)
    warnings = (*record.warnings, *cost_warnings(record))
    yield from (f"warning: {warning}" for warning in warnings)


def retry_advice(record: "RunRecord") -> Iterator[str]:
    """The commands by which the files that a run has set aside are read again."""
    folders = {"/".join(file.path.split("/")[:3]) for file in record.set_aside if file.moved_to}
    for folder in sorted(folders):
        zone = folder.replace("/landing/", ".")
        yield f"to have them read again, once corrected: lakebed zone retry {zone}"


def failed_gate(
    verdict: "Verdict", *, limit: int = _ROWS, longest: int | None = None
) -> Iterator[str]:
    """A failed gate, with some of the bad rows it found."""
    found = verdict.error or plural(verdict.bad_rows, "bad row")
    about = f" ({verdict.description})" if verdict.description else ""
    yield f"gate {verdict.gate}, {verdict.severity}: {found}{about}"
    for row in verdict.sample[:limit]:
        shown = ", ".join(
            f"{name}={'NULL' if value is None else value}" for name, value in row.items()
        )
        yield f"  {shorten(shown, longest)}"
    if verdict.bad_rows > limit:
        yield f"  … and {format_count(verdict.bad_rows - limit)} more"
    if verdict.remediation:
        yield f"  {verdict.remediation}"


def summary(labels: Sequence[str], took: float) -> str:
    """`Done. PASS=3 WARN=0 ERROR=1 SKIP=1 TOTAL=5 in 12.3 s`; NOOP is added if there is any."""
    count = Counter({"OK": "PASS", "FAIL": "ERROR"}.get(one, one) for one in labels)
    names = ["PASS", "WARN", "ERROR", "SKIP", *(["NOOP"] if count["NOOP"] else [])]
    return (
        f"Done. {' '.join(f'{name}={count[name]}' for name in names)} TOTAL={len(labels)} in"
        f" {took:.1f} s"
    )
