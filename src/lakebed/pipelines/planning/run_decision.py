"""Whether a run has something to do, and why. Pure."""

from dataclasses import dataclass

from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.pins import Pins, TargetTable


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
    changed = (
        spec.strategy.strategy == "full_refresh"
        and not target.absent
        and _change(spec, pins, target, gone)
    )
    if not any(pin.files for pin in pins.landing.values()) and not (changed and gone):
        return RunDecision(
            should_run=False, reason=f"no file is waiting in {listed}{_archived(pins, target)}"
        )
    if target.absent and any(pin.known for pin in pins.landing.values()):
        return RunDecision(should_run=True, reason="the table does not exist")
    if pins.full_refresh:
        return RunDecision(should_run=True, reason="a full refresh was requested")
    if new:
        later = max(pin.later for pin in pins.landing.values())
        more = f", and {later} more, each in its own run" if later else ""
        return RunDecision(
            should_run=True, reason=f"{new} new file{'s' if new > 1 else ''} in {listed}{more}"
        )
    return (
        RunDecision(should_run=True, reason=changed)
        if changed
        else RunDecision(should_run=False, reason=f"no new file in {listed}")
    )


def _archived(pins: Pins, target: TargetTable) -> str:
    count = sum(pin.archived for pin in pins.landing.values())
    return f"; --full-refresh reads the {count} archived" if target.absent and count else ""


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
