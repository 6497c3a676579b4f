"""The verbs of a lake that keep it healthy: care, fsck, backup, restore, relocate, takeover,
upgrade.
"""

from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakebed.app.connections import Connections, Report, quiet

if TYPE_CHECKING:
    from lakebed.care import CareListener, CareResult
    from lakebed.care.backup import BackupReport, RestoreReport
    from lakebed.care.fsck import FsckReport, FsckServices, RebuildReport
    from lakebed.care.relocation import RelocationReport
    from lakebed.care.settings_view import CareView
    from lakebed.ports import CareEntry
    from lakebed.tables.ownership import Takeover


@dataclass(frozen=True)
class DatabaseUpgrade:
    """The schema of the lake's database before an upgrade, and what this Lakebed needs."""

    database: str
    before: int  # 0: no lake has used it
    needed: int
    done: bool

    @property
    def is_due(self) -> bool:
        return self.before < self.needed and not self.done


class LakeUpkeep(Connections):
    """A part of `Lake`, which alone inherits from it."""

    def care(
        self,
        *tables: str,
        dry_run: bool = False,
        only: Sequence[str] = (),
        orphans: bool = False,
        now: datetime | None = None,
        listener: "CareListener | None" = None,
    ) -> "CareResult":
        """Do what is due: expire, rewrite, remove, purge; for these tables or patterns, or for the
        whole lake.

        `orphans` removes orphans, which are only reported otherwise; `now` is the time to judge
        ages by.
        """
        from lakebed.care import take_care
        from lakebed.care.selection import care_request

        services = self._care_services()
        request = care_request(services, tables, dry_run=dry_run, only=only, orphans=orphans)
        return take_care(services, request, now=now or datetime.now(UTC), listener=listener)

    def care_history(
        self, *, subject: str | None = None, limit: int = 50
    ) -> "tuple[CareEntry, ...]":
        """What care did, newest first."""
        return self.stores.care.entries(subject=subject, limit=limit)

    def care_settings(self, name: str) -> "CareView":
        """How a table is cared for, and who says so."""
        from lakebed.care.settings_view import care_settings

        return care_settings(self._care_services(), name)

    def fsck(
        self, *, repair: bool = False, sample: int | None = 200, report: Report = quiet
    ) -> "FsckReport":
        """Compare catalog, files, pipelines and state with each other; `repair` makes the repairs
        that lose nothing.

        `sample` files of data, and as many of metadata, are read in full; None: every file.

        """
        from lakebed.care.fsck import run_fsck

        return run_fsck(self._fsck_services(report), repair=repair, sample=sample)

    def rebuild_catalog(self, *, report: Report = quiet) -> "RebuildReport":
        """Register every table that is not in the catalog, by its newest metadata file."""
        from lakebed.care.fsck import rebuild_catalog

        self._accept_database()
        with self.stores.ownership.filling():
            return rebuild_catalog(self._fsck_services(report))

    def backup(self, destination: str) -> "BackupReport":
        """Write catalog and state, as of one moment, to a file, or to a new file in a folder;
        `s3://` too.
        """
        from lakebed.app.fsck import backup_services
        from lakebed.care.backup import back_up

        services = backup_services(self._fsck_services(), self.stores.database)
        return back_up(services, destination)

    def restore(
        self, source: str, *, force: bool = False, newest: bool = False, report: Report = quiet
    ) -> "RestoreReport":
        """Replace catalog and state by a backup's; `newest` follows what tables have committed
        since it was made.
        """
        from lakebed.app.fsck import backup_services
        from lakebed.care.backup import restore_backup

        self._accept_database()
        services = backup_services(self._fsck_services(report), self.stores.database)
        ownership = self.stores.ownership
        # `newest` relocates the tables of a copied or moved lake
        relocating = ownership.relocating(moved=False, dry_run=False) if newest else nullcontext()
        with ownership.filling(), relocating:
            return restore_backup(services, source, force=force, newest=newest)

    def relocate(
        self,
        *,
        origin: str | None = None,
        dry_run: bool = False,
        skip_damaged: bool = False,
        moved: bool = False,
        report: Report = quiet,
    ) -> "RelocationReport":
        """Point tables at where they are, after the lake was copied or moved from `origin`, which
        is found unless given.

        The lake gets an id of its own, unless it was `moved`, and is no longer where it was.
        """
        from lakebed.app.fsck import relocation_services
        from lakebed.care.relocation import RelocationReport, relocate

        self._accept_database()
        services = relocation_services(self._fsck_services(report), self.stores.database)
        with self.stores.ownership.relocating(moved=moved, dry_run=dry_run) as is_away:
            if is_away and self.stores.catalog.owns_files:  # it places tables itself
                return RelocationReport(origin="", root=str(self.root), tables=())
            return relocate(services, origin=origin, dry_run=dry_run, skip_damaged=skip_damaged)

    def takeover(self) -> "Takeover":
        """Make this lake's database its owner, after a backup or dump was restored into it.

        Every other database, and every process that is open on one, can only read from then on.
        """
        self._accept_database()
        return self.stores.ownership.take_over()

    def upgrade(self, *, check: bool = False) -> DatabaseUpgrade:
        """Bring the lake's database to the version that this Lakebed needs, as opening the lake
        does; with `check`, only say whether that is due.
        """
        from lakebed.app.stores import open_stores
        from lakebed.engines.database.schema import NEWEST, pending

        stores = open_stores(self.settings, self.root)
        with closing(stores.database) as database:
            before = database.version()
            if pending(before) and not check:
                stores.ownership.open()
            done = bool(pending(before)) and not check
            return DatabaseUpgrade(database.where, before, NEWEST, done)

    def _fsck_services(self, report: Report = quiet) -> "FsckServices":
        from lakebed.app.fsck import fsck_services

        return fsck_services(self._run_services, self.stores.database, report=report)
