"""Zones as runs use them: which files were taken, and which have been taken by everyone."""

from collections.abc import Iterable
from dataclasses import replace

from lakebed.errors import LakebedError, UsageError
from lakebed.landing import archivable, archive
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.pin import Specs
from lakebed.pipelines.releases import other_readers
from lakebed.pipelines.spec import PipelineSpec
from lakebed.pipelines.tools import Tools
from lakebed.pipelines.work import Work
from lakebed.ports import ConsumedFile


def taken(work: Work) -> tuple[ConsumedFile, ...]:
    """The files whose rows the run brings into its table; of a file read under two patterns, one."""
    known = {path: file for pin in work.setting.pins.landing.values() for path, file in pin.known.items()}
    whole = work.spec.strategy.strategy == "full_refresh"  # what the last run read is asked for; else, who read it first
    files = [
        known.get(file.path) or ConsumedFile(work.table, zone, file.path, file.etag, file.size, work.run_id)
        for (zone, _), landed in work.landed.items()
        for file in landed.files
        if (whole if file.path in known else "/_processed/" not in file.path)
    ]
    return tuple({(file.path, file.etag): replace(file, run_id=work.run_id) for file in files}.values())


def readers(specs: Specs, tools: Tools) -> tuple[PipelineSpec, ...]:
    """All who may read a zone: these pipelines, drafts or releases, and the others of the two."""
    try:
        return (*specs.values(), *other_readers(specs, tools.ground.files, tools.releases))
    except LakebedError as error:
        raise UsageError(f"who else reads the zones is not known while {error.where} is wrong: {error.what}") from None


def consumers(zone: ZoneName, specs: Iterable[PipelineSpec]) -> tuple[tuple[TableName, str | None], ...]:
    """The tables whose pipelines say that they read a zone."""
    return tuple(dict.fromkeys((spec.table, ref.pattern) for spec in specs for ref in spec.zones if ref.zone == zone))


def archive_zones(zones: Iterable[ZoneName], specs: Specs, tools: Tools) -> int:
    """Move files that every declared reader has to `_processed/`; returns how many. Can be repeated at any time."""
    moved, everyone = 0, readers(specs, tools)
    for zone in zones:
        consumed = tools.records.consumed(zone)
        moves = archivable(tools.ground.files.list(zone.folder), consumed, consumers(zone, everyone))
        moved += len(archive(tools.ground.files, moves))
    return moved
