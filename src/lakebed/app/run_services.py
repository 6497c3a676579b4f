"""Wiring: what runs compute with besides sessions of Spark."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lakebed.errors import BadSettings, LakebedError
from lakebed.ports import Files, LakePorts, LocalSession
from lakebed.settings import DATA, SETTINGS_FILE, Root, cache_folder, logs_folder


@dataclass(frozen=True)
class LakeRunEngines:
    """The `RunEngines` of a lake; starts none before a run needs it."""

    ports: LakePorts
    environment: Mapping[str, str]
    own_spark: bool

    def workbench(self) -> LocalSession:
        """DuckDB in this process."""
        from lakebed.engines.duckdb import DuckWorkbench
        from lakebed.engines.iceberg import file_properties

        settings = self.ports.settings
        return DuckWorkbench(
            self.ports.catalog,
            timezone=settings.timezone,
            properties=file_properties(settings.files),
            spill=settings.places.spill,
        )

    def scratch(self, run_id: str) -> Path:
        """A run's own folder on this machine."""
        return scratch_folder(self.ports.root, self.environment) / run_id

    def log(self, run_id: str) -> Path:
        """Where a run's log is written."""
        logs = logs_folder(self.ports.settings, self.ports.root, self.environment)
        return logs / "runs" / f"{run_id}.log"

    def elsewhere(self, store: str) -> tuple[Files, Root]:
        """Files of this machine, or of a bucket."""
        from lakebed.engines.files import FolderFiles, open_files
        from lakebed.engines.spark import reads_s3

        settings = self.ports.settings
        if store == "/":
            return FolderFiles(Path("/")), Root("file://")
        if not reads_s3(settings, self.ports.root):
            raise BadSettings(
                f"a source is in the bucket {store}, and no setting says how buckets are reached.",
                where=SETTINGS_FILE,
                next="Set files.region; for a server other than AWS files.endpoint, and its keys.",
            )
        root = Root.parse(store)
        return open_files(root, settings.files), root


def scratch_folder(root: Root, environment: Mapping[str, str]) -> Path:
    """Where runs keep files for a while: on this machine, and on the lake's disk if it has one, as
    links do not cross disks.
    """
    base = cache_folder(environment) if root.is_bucket else root.folder / DATA
    return base / "staging"


def keep_logs(files: Files, folder: Path) -> None:
    """Copy this machine's logs to the bucket. If that fails they stay where they are."""
    with suppress(LakebedError):
        for log in sorted(folder.rglob("*.log")):
            with log.open("rb") as file:
                files.write(f"{DATA}/logs/{log.relative_to(folder).as_posix()}", file)
