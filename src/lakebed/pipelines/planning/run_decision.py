"""Whether a run has something to do, and why. Pure."""

from dataclasses import dataclass

from lakebed.landing import ZONE_FILE
from lakebed.names import ZoneName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.pins import Pins, TargetTable

_SHOWN = 20


@dataclass(frozen=True)
class RunDecision:
    """Whether a run has something to do, and why or why not."""

    should_run: bool
    reason: str = ""


def decide_run(spec: PipelineSpec, pins: Pins, target: TargetTable) -> RunDecision:
    """A pipeline that reads only zones runs for new files.

    One that replaces all rows also runs after any other change.
    """
    if not spec.zones or spec.inputs:
        return RunDecision(should_run=True)
    listed = ", ".join(sorted(str(zone) for zone, _ in pins.landing))
    new = sum(pin.new for pin in pins.landing.values())
    gone = [path for pin in pins.landing.values() for path in pin.gone]
    changed = spec.strategy.rebuilds_all and not target.absent and _change(spec, pins, target, gone)
    if not any(pin.files for pin in pins.landing.values()) and not (changed and gone):
        also = f"{_unmatched(pins)}{_archived(pins, target)}{_quarantined(pins)}"
        return RunDecision(should_run=False, reason=f"no file is waiting in {listed}{also}")
    if target.absent and any(pin.known for pin in pins.landing.values()):
        return RunDecision(should_run=True, reason="the table does not exist")
    if pins.full_refresh:
        return RunDecision(should_run=True, reason="a full refresh was requested")
    if new:
        later = max(pin.later for pin in pins.landing.values())
        more = f", and {later} more, each in its own run" if later else ""
        return RunDecision(should_run=True, reason=f"{_new_files(pins)} in {listed}{more}")
    return (
        RunDecision(should_run=True, reason=changed)
        if changed
        else RunDecision(should_run=False, reason=f"no new file in {listed}")
    )


def _new_files(pins: Pins) -> str:
    """`2 new files`, `1 replaced file`, `2 new and 1 replaced file`."""
    replaced = sum(len(pin.replaced) for pin in pins.landing.values())
    new = sum(pin.new for pin in pins.landing.values()) - replaced
    counts = [(new, "new"), (replaced, "replaced")]
    last = replaced or new
    parts = [f"{count} {word}" for count, word in counts if count]
    return f"{' and '.join(parts)} file{'s' if last > 1 else ''}"


def run_warnings(spec: PipelineSpec, pins: Pins) -> tuple[str, ...]:
    """What to look at although the run may succeed: rows that stay although their file was
    replaced, and rows that go because their file has gone.
    """
    warnings: list[str] = []
    for (zone, _), pin in pins.landing.items():
        if spec.strategy.adds_replaced_files and pin.replaced_rule == "append_and_warn":
            warnings += (_replaced_warning(path, zone) for path in pin.replaced)
        warnings += (f"{path} is gone, and so are its rows" for path in pin.gone)
    more = f"and {len(warnings) - _SHOWN:,} more files"
    return (*warnings[:_SHOWN], *([more] if len(warnings) > _SHOWN else []))


def adding_again(spec: PipelineSpec) -> tuple[str, ...]:
    """What to say where every run adds all rows of other tables. One that stamps its rows means
    that; of a zone each run reads new files only.
    """
    means_it = "run_started_at" in spec.names or spec.reads_itself
    if not spec.strategy.only_adds or not spec.refs or spec.zones or means_it:
        return ()
    tables = ", ".join(sorted({str(ref.table) for ref in spec.refs}))
    return (
        f"every run adds all rows of {tables} again, since {spec.file} does not look at what it has"
        " added: read only newer ones by watermark, or choose another merge_strategy",
    )


def _replaced_warning(path: str, zone: ZoneName) -> str:
    return (
        f"{path} was replaced after it was read: its rows are added to those of the former version."
        f" Set replaced: refuse in {zone.folder}/{ZONE_FILE} to prevent that, or replaced: append"
        " if it is meant"
    )


def _archived(pins: Pins, target: TargetTable) -> str:
    count = sum(pin.archived for pin in pins.landing.values())
    return f"; --full-refresh reads the {count} archived" if target.absent and count else ""


def _unmatched(pins: Pins) -> str:
    """Files that are there for nobody: the pattern may be meant otherwise than it reads."""
    count = sum(pin.unmatched for pin in pins.landing.values())
    if not count:
        return ""
    files = "1 file does" if count == 1 else f"{count} files do"
    return f": {files} not match the pattern (a * stands for any characters)"


def _quarantined(pins: Pins) -> str:
    counts = {zone: pin.quarantined for (zone, _), pin in pins.landing.items() if pin.quarantined}
    shown = ", ".join(f"lakebed zone show {zone}" for zone in sorted(counts))
    return f"; {sum(counts.values())} set aside earlier: {shown}" if counts else ""


def _change(spec: PipelineSpec, pins: Pins, target: TargetTable, gone: list[str]) -> str:
    """What has changed since the last run; empty if nothing has."""
    last = target.last
    if gone:
        return f"{gone[0]} is gone" + (f", and {len(gone) - 1} more" if len(gone) > 1 else "")
    if last is None or not last.given:
        return "the inputs of the last run are not known"
    if last.release != spec.digest:
        return "the pipeline has changed"
    if last.given != pins.given:
        return "variables or settings of the zone have changed"
    return "" if target.is_as_left(pins.ref) else "the table has changed since the last run"
