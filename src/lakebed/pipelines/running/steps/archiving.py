"""Zones as runs use them: which files the run took, and which all readers have taken."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lakebed.landing import (
    Move,
    archive_files,
    is_archived,
    known_files,
    list_zone,
    path_in_run,
    plan_archive,
    record_moves,
)
from lakebed.names import ZoneName
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.services import RunServices
from lakebed.pipelines.zone_readers import drafts_and_releases, readers_among
from lakebed.ports import ConsumedFile, FileInfo


def taken(run: ActiveRun) -> tuple[ConsumedFile, ...]:
    """The files whose rows the run adds to its table; one read by two patterns counts once."""
    known = {
        path: file for pin in run.context.pins.landing.values() for path, file in pin.known.items()
    }
    # what the last run read is asked for; else, who read it first
    whole = run.spec.strategy.rebuilds_all
    files = [
        known.get(file.path) or file_taken
        for (zone, _), landed in run.progress.landed.items()
        for file, file_taken in _first_taken(landed.files, zone, run)
        if whole or file.path not in known
    ]
    return tuple(
        {(file.path, file.etag): replace(file, run_id=run.run_id) for file in files}.values()
    )


def _first_taken(
    files: Sequence[FileInfo], zone: ZoneName, run: ActiveRun
) -> Iterator[tuple[FileInfo, ConsumedFile]]:
    """An archived file is known by where it landed: another table's rollback may bring it back
    there.
    """
    told = (
        {row.archived: row for row in run.services.ports.records.consumed(zone)}
        if any(map(is_archived, files))
        else {}
    )
    for file in files:
        digest = run.progress.digests.get(file.path, "")
        own = ConsumedFile(
            run.table, zone, file.path, file.etag, file.size, run.run_id, digest=digest
        )
        if is_archived(file) and file.path in told:
            own = replace(told[file.path], table=run.table, state="taken")
        elif is_archived(file):
            own = replace(
                own,
                path=f"{zone.folder}/{path_in_run(file.path)}",
                archived=file.path,
                archived_etag=file.etag,
            )
        yield file, own


def archive_zones(zones: Iterable[ZoneName], specs: Specs, services: RunServices) -> int:
    """Move files that every declared reader has taken to `_processed/`; returns how many. Can be
    repeated at any time.
    """
    files = services.ports.files
    return sum(
        record_moves(archive_files(files, moves), services.ports.records)
        for _, moves in _due_moves(zones, specs, services)
    )


def zones_to_archive(
    zones: Iterable[ZoneName], specs: Specs, services: RunServices
) -> tuple[ZoneName, ...]:
    """The zones of which `archive_zones` would move files now."""
    return tuple(zone for zone, moves in _due_moves(zones, specs, services) if moves)


def _due_moves(
    zones: Iterable[ZoneName], specs: Specs, services: RunServices
) -> Iterator[tuple[ZoneName, Sequence[Move]]]:
    everyone, files = drafts_and_releases(specs, services), services.ports.files
    for zone in zones:
        present = list_zone(files, zone)
        readers = [(reader.table, reader.pattern) for reader in readers_among(everyone, zone)]
        known = known_files(zone, present, files, services.ports.records)
        yield zone, plan_archive(present, known, readers)
