"""Pinning the files of zones that a run reads; a misspelt zone would look like one that never has
files.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from lakebed.errors import BadFiles, BadPipeline, near, suggestion
from lakebed.landing import (
    ZONE_FILE,
    ZoneSpec,
    archived_places,
    each_once,
    freeze,
    known_files,
    locate_files,
    matches_zone_pattern,
    not_consumed,
    processed_files,
    read_zone_spec,
    replaced_files,
)
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec, ZoneRef
from lakebed.pipelines.planning.pins import ReplacedRule, ZoneKey, ZonePin, arrival_order
from lakebed.pipelines.services import RunServices
from lakebed.ports import ConsumedFile, FileInfo

_SHOWN = 3


def pin_zones(
    spec: PipelineSpec, services: RunServices, *, full_refresh: bool, absent: bool
) -> Mapping[ZoneKey, ZonePin]:
    """The files that a run reads, by zone and pattern.

    A `full_refresh`, or an `absent` table, also reads files taken before.
    """
    zones = [
        _Zone(ref, read_zone_spec(services.ports.files, ref.zone), spec.table, services)
        for ref in spec.zones
    ]
    ledger = services.ports.records.ledger(spec.table) if spec.zones else ()
    whole = spec.strategy.rebuilds_all
    pinned: dict[ZoneKey, ZonePin] = {}
    for zone in zones:
        ref, taken = zone.ref, _taken(zone.ref, ledger, last=whole)
        if whole:
            pin = zone.as_last(taken, archived_too=full_refresh)
        elif full_refresh or (absent and taken):
            pin = zone.all(taken)
        else:
            pin = zone.waiting(absent=absent)
        pinned[ref.zone, ref.pattern] = replace(
            pin, quarantined=zone.quarantined, unmatched=zone.unmatched
        )
    if (
        spec.config.one_file_a_run
        and not full_refresh
        and not any(pin.known for pin in pinned.values())
    ):
        pinned = _oldest(pinned)
    gone = [path for pin in pinned.values() for path in pin.gone]
    if gone and not whole and not (full_refresh and absent):
        raise _files_gone_error(spec.table, gone, absent=absent)
    if spec.strategy.adds_replaced_files:
        _require_no_refused(spec, pinned)
    expected = {zone.ref.zone: tuple(zone.spec.expected_schema or ()) for zone in zones}
    return {key: replace(pin, columns=expected[key[0]]) for key, pin in pinned.items()}


def _oldest(pinned: Mapping[ZoneKey, ZonePin]) -> dict[ZoneKey, ZonePin]:
    """Only the file that arrived first; the others are left to further runs."""
    waiting = sorted({file for pin in pinned.values() for file in pin.files}, key=arrival_order)
    if not waiting:
        return dict(pinned)
    chosen = {
        key: tuple(file for file in pin.files if file == waiting[0]) for key, pin in pinned.items()
    }
    return {
        key: replace(
            pin,
            files=chosen[key],
            new=len(chosen[key]),
            later=len(waiting) - 1,
            others=tuple(file for file in pin.files if file not in chosen[key]),
            replaced=tuple(path for path in pin.replaced if path == waiting[0].path),
        )
        for key, pin in pinned.items()
    }


def _taken(ref: ZoneRef, ledger: Sequence[ConsumedFile], *, last: bool) -> tuple[ConsumedFile, ...]:
    """The files of a zone that the table has, each as it was first taken; or those that the `last`
    run took.
    """
    rows = [
        file
        for file in ledger
        if file.zone == ref.zone
        and file.state == "taken"
        and matches_zone_pattern(file, ref.pattern)
    ]
    if last:
        return tuple(file for file in rows if file.run_id == rows[-1].run_id)
    return tuple({(file.path, file.etag): file for file in reversed(rows)}.values())[::-1]


class _Zone:
    """The files of a zone at one moment, with their rows in the ledger.

    Archived files are listed only when needed.
    """

    def __init__(
        self, ref: ZoneRef, spec: ZoneSpec, table: TableName, services: RunServices
    ) -> None:
        self.ref, self.spec, self.services = ref, spec, services
        frozen = freeze(services.ports.files, ref.zone, spec, pattern=ref.pattern)
        self.changing = tuple(file.path for file in frozen.waiting)
        self.quarantined, self.unmatched = frozen.quarantined, frozen.unmatched
        self.known = known_files(
            ref.zone, frozen.files, services.ports.files, services.ports.records, table=table
        )
        self.files = each_once(frozen.files, self.known)
        self.held = {(file.path, file.etag) for file in self.known if file.state == "held"}

    def waiting(self, *, absent: bool) -> ZonePin:
        """The files that the table does not have yet."""
        new = not_consumed(self.files, self.known)
        archived = len(self._archived()) if absent and not new else 0
        replaced = self._replaced(new)
        return ZonePin(
            new,
            len(new),
            self.changing,
            archived=archived,
            replaced=replaced,
            replaced_rule=self._replaced_rule() if replaced else "append",
        )

    def all(self, taken: Sequence[ConsumedFile]) -> ZonePin:
        """The files that the table has, the waiting ones, and archived ones that it never had."""
        present, archived = self._present(), self._archived()
        found, gone = locate_files(taken, (*present, *archived))
        files = (*archived, *present)
        return ZonePin(files, len(files), self.changing, known=found, gone=gone)

    def as_last(self, taken: Sequence[ConsumedFile], *, archived_too: bool) -> ZonePin:
        """All files in the zone.

        If none of them is new, the files that the last run read, wherever they are now.
        """
        present = self._present()
        new = not_consumed(present, self.known)
        found, away = locate_files(taken, present)
        if new or not (away or (archived_too and not taken)):
            replaced = self._replaced(new)
            return ZonePin(present, len(new), self.changing, known=found, replaced=replaced)
        archived = self._archived()
        if not taken:
            return ZonePin((*archived, *present), len(archived) + len(present), self.changing)
        found, gone = locate_files(taken, (*present, *archived))
        again = (file for file in archived if file.path in found)
        return ZonePin((*again, *present), 0, self.changing, known=found, gone=gone)

    def _replaced(self, new: Sequence[FileInfo]) -> tuple[str, ...]:
        return tuple(file.path for file in replaced_files(new, self.known))

    def _replaced_rule(self) -> ReplacedRule:
        if self.spec.replaced:
            return self.spec.replaced
        in_use = self.services.ports.records.appends_replaced(self.ref.zone)
        return "append_and_warn" if in_use else "refuse"

    def _present(self) -> tuple[FileInfo, ...]:
        return tuple(file for file in self.files if (file.path, file.etag) not in self.held)

    def _archived(self) -> tuple[FileInfo, ...]:
        there = {
            file.path: file
            for file in processed_files(
                self.services.ports.files, self.ref.zone, self.spec, pattern=self.ref.pattern
            )
        }
        places = archived_places(self.known, there)
        held = {place for file, place in places.items() if file in self.held}
        return tuple(file for path, file in there.items() if path not in held)


def _require_no_refused(spec: PipelineSpec, pinned: Mapping[ZoneKey, ZonePin]) -> None:
    """Raise if rows of a former version of a file would stay beside those of the new one."""
    table = spec.table
    for (zone, _), pin in pinned.items():
        if pin.replaced and pin.replaced_rule == "refuse":
            raise BadFiles(
                f"{_listed(pin.replaced)} replaced after the table had read the former version;"
                f" {spec.strategy.strategy} would add the new rows to the old ones.",
                where=f"{zone} for {table}",
                safe="Nothing was published, and no file was moved.",
                next=(
                    "Put the former file back, and what is new under another name. Or, to make the"
                    f" table from the files as they are now: lakebed table drop {table}, then"
                    f" lakebed run {table} --full-refresh. Or set replaced: append in"
                    f" {zone.folder}/{ZONE_FILE}, to have both. A strategy with keys corrects"
                    " rows by itself."
                ),
            )


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more} {'was' if len(paths) == 1 else 'were'}"


def _files_gone_error(table: TableName, gone: Sequence[str], *, absent: bool) -> BadFiles:
    more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
    files = f"{', '.join(gone[:_SHOWN])}{more}"
    if absent:
        return BadFiles(
            f"the table does not exist, and files that it was made from are gone: {files}.",
            where=str(table),
            safe="Nothing was written.",
            next="Put them back; or build it from the remaining files: lakebed run --full-refresh",
        )
    return BadFiles(
        "a full refresh would lose rows, because files that the table was made from are gone:"
        f" {files}.",
        where=str(table),
        safe="The table is unchanged.",
        next=(
            "Put them back; or, to build it from the remaining files, drop the table and run"
            " --full-refresh."
        ),
    )


def require_known_zones(refs: Iterable[ZoneRef], services: RunServices) -> None:
    """Raise for a zone that has no folder, not even an empty one, and from which no table has taken
    files.
    """
    folders = lru_cache(services.ports.files.folders)  # once a namespace
    for ref in refs:
        known = folders(f"{ref.zone.namespace}/landing")
        if ref.zone.name not in known and not services.ports.records.consumed(ref.zone):
            raise BadPipeline(
                f"there is no landing zone {ref.text!r}.",
                where=ref.where,
                line=ref.line,
                next=_how_to_begin(ref, known),
            )


def _how_to_begin(ref: ZoneRef, known: Iterable[str]) -> str:
    close = suggestion(near(ref.zone.name, known))
    return (
        f"{close} A new zone begins with its first file: lakebed zone put {ref.zone} FILE; an empty"
        " folder will do.".lstrip()
    )
