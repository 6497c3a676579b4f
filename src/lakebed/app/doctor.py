"""Checking a lake and its machine: each component with its version, whether it works, and how to
fix it.
"""

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from lakebed.app.lake import Lake
from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.ports import Pointer, TableMetadata
from lakebed.settings import DATA, IN_BUCKET, Root, Settings, cache_folder, logs_folder, masked
from lakebed.tables import former_root

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class DoctorFinding:
    """The state of one component."""

    component: str
    state: State
    version: str = ""
    detail: str = ""
    fix: str = ""


def examine(lake: Lake | None, environment: Mapping[str, str]) -> tuple[DoctorFinding, ...]:
    """Check every component, even if one fails. Starts no JVM."""
    settings = lake.settings if lake else Settings()
    machine = [
        *(_package(name) for name in ("lakebed", "pyspark", "pyiceberg", "duckdb")),
        _guarded("java", lambda: _java(environment)),
    ]
    if lake is None:
        return (DoctorFinding("python", "ok", platform.python_version()), *machine, _no_lake())
    return (
        DoctorFinding("python", "ok", platform.python_version()),
        *machine,
        _guarded("spark jars", lambda: _jars(settings, lake.root, environment)),
        *([] if settings.spark.is_local else [_guarded("spark", lambda: _spark(lake))]),
        _guarded("files", lambda: _files(lake)),
        _guarded("catalog", lambda: _catalog(lake)),
        _guarded("identity", lambda: _identity(lake)),
        _guarded("tables", lambda: _tables(lake)),
        _guarded("logs", lambda: _logs(lake, environment)),
    )


def _guarded(component: str, look: Callable[[], DoctorFinding]) -> DoctorFinding:
    try:
        return look()
    except LakebedError as error:
        where = f"{error.where}: " if error.where else ""
        return DoctorFinding(component, "problem", detail=f"{where}{error.what}", fix=error.next)


def _package(name: str) -> DoctorFinding:
    try:
        return DoctorFinding(name, "ok", version(name))
    except PackageNotFoundError:
        return DoctorFinding(name, "problem", detail="not installed", fix="pip install lakebed")


def _java(environment: Mapping[str, str]) -> DoctorFinding:
    from lakebed.engines.spark.start.java import find_java

    java = find_java(environment)
    return DoctorFinding("java", "ok", java.version, f"{java.home} (from {java.origin})")


def _jars(settings: Settings, root: Root, environment: Mapping[str, str]) -> DoctorFinding:
    from lakebed.engines.spark.jars.pinned import absent, needed_jars

    cache = cache_folder(environment)
    if settings.spark.jars:
        return DoctorFinding(
            "spark jars", "ok", detail=f"{len(settings.spark.jars)} given by spark.jars"
        )
    missing = absent(needed_jars(settings, root), cache)
    if missing:
        names = ", ".join(jar.name for jar in missing)
        return DoctorFinding(
            "spark jars",
            "warning",
            detail=f"not yet in {cache}: {names}",
            fix="They are fetched at the first run.",
        )
    return DoctorFinding("spark jars", "ok", detail=str(cache))


def _spark(lake: Lake) -> DoctorFinding:
    """Whether a remote Spark answers; a Connect server opens the lake, as it would for a run."""
    from lakebed.engines.spark.remote import close_remote, open_remote
    from lakebed.engines.spark.start.masters import require_reachable, shown

    spark = lake.settings.spark
    require_reachable(spark.master)
    if not spark.is_connect:
        where = shown(spark.master)
        return DoctorFinding(
            "spark",
            "ok",
            detail=(
                f"{where}: answers" if where else f"{masked(spark.master)}: the first run checks it"
            ),
        )
    session = open_remote(lake.settings, lake.root)
    try:
        return DoctorFinding(
            "spark", "ok", session.version, f"{shown(spark.master)}: answers, can open the lake"
        )
    finally:
        close_remote(session)


def _files(lake: Lake) -> DoctorFinding:
    if not lake.stores.database.may_write():
        lake.stores.files.folders()
        detail = f"{lake.stores.files.where}: answers; not written to, as the catalog's role reads"
        return DoctorFinding("files", "ok", detail=detail)
    lake.stores.files.probe()
    return DoctorFinding(
        "files", "ok", detail=f"{lake.stores.files.where}: answers, create-if-absent is atomic"
    )


def _catalog(lake: Lake) -> DoctorFinding:
    database, catalog = lake.stores.database, lake.stores.catalog
    if stray := _tables_of_others(database.owners()):
        return stray
    count = sum(not table.hidden for table in catalog.pointers())
    role = "" if database.may_write() else ", this role may only read"
    return DoctorFinding(
        "catalog",
        "ok",
        database.server_version(),
        f"{catalog.where}: answers, {count} tables{role}",
    )


def _tables_of_others(owners: Mapping[str, str]) -> DoctorFinding | None:
    """Tables that another role made: the owner of the lake cannot write to them."""
    owner = owners.get("lakebed_schema", "")
    strays = [table for table, its_owner in owners.items() if its_owner != owner]
    if not strays:
        return None
    return DoctorFinding(
        "catalog",
        "problem",
        detail=f"{owner} owns the lake's tables, but not {', '.join(strays)}",
        fix=" ".join(f'ALTER TABLE {table} OWNER TO "{owner}";' for table in strays),
    )


def _identity(lake: Lake) -> DoctorFinding:
    """Whether the lake can be written to with this database; makes no identity."""
    ownership = lake.stores.ownership
    seen = ownership.look()
    if seen.owner is None:
        return DoctorFinding("identity", "ok", detail="none yet: the first write makes one")
    ownership.require_no_other(seen)
    version = f"format {seen.root.format}" if seen.root else ""
    lake_id = f"lake {seen.owner.id}, generation {seen.owner.generation}"
    return DoctorFinding("identity", "ok", version, f"{lake_id}: owned by this database")


def _tables(lake: Lake) -> DoctorFinding:
    pointers = lake.stores.catalog.pointers()
    elsewhere = [
        pointer for pointer in pointers.values() if lake.root.relative(pointer.location) is None
    ]
    if elsewhere and lake.stores.catalog.atomic:  # a REST catalog places tables itself
        return DoctorFinding(
            "tables",
            "problem",
            detail=(
                f"{len(elsewhere)} of {len(pointers)} tables point outside the lake, as"
                f" {elsewhere[0].location} does"
            ),
            fix="If the lake was moved: lakebed relocate",
        )
    metadata = lake.stores.catalog.metadata(pointers.values())
    if moved := _written_elsewhere(lake, pointers, metadata):
        return DoctorFinding(
            "tables",
            "problem",
            detail=f"{len(moved)} of {len(pointers)} tables name files at {moved[0]}",
            fix=f"If the lake was copied or moved: lakebed relocate --from {moved[0]}",
        )
    return DoctorFinding(
        "tables", "ok", detail=f"the metadata of {len(pointers)} tables can be read"
    )


def _written_elsewhere(
    lake: Lake, pointers: Mapping[TableName, Pointer], metadata: Mapping[TableName, TableMetadata]
) -> list[str]:
    """Where the lake was when tables were written whose metadata files are here; one for each."""
    if lake.stores.catalog.owns_files:
        return []
    path_of = lake.stores.files.path_of
    roots = (former_root(pointers[table].location, metadata[table], path_of) for table in metadata)
    return [root for root in roots if root]


def _logs(lake: Lake, environment: Mapping[str, str]) -> DoctorFinding:
    """Where commands of this user log on this machine."""
    folder = logs_folder(lake.settings, lake.root, environment)
    copied = lake.settings.places.logs == IN_BUCKET
    bucket = f", then copied to {lake.root.at(f'{DATA}/logs')}" if copied else ""
    return DoctorFinding("logs", "ok", detail=f"{folder}{bucket}")


def _no_lake() -> DoctorFinding:
    return DoctorFinding(
        "lake",
        "warning",
        detail="no lake here",
        fix="Create one: lakebed init, or name one with --lake PATH.",
    )
