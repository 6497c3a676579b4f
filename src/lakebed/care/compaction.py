"""Rewriting small files and manifests. Metadata shows whether it is worthwhile; Spark does it."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from lakebed.care.outcome import Done
from lakebed.care.services import CareServices
from lakebed.care.steps import CompactFiles, RewriteManifests
from lakebed.errors import RunFailed
from lakebed.names import CATALOG, TableName, new_run_id, spark_identifier
from lakebed.ports import Event, ReachableFile, Snapshot, TableMetadata
from lakebed.settings import TableCare
from lakebed.tables import HeldLease, settle_times
from lakebed.work import OnProgress

SMALL = 0.75  # of the target, as Iceberg itself has it
LEAST = 5  # files of one partition that are worth being made one, as Iceberg itself has it
_SMALL_MANIFEST = 4 * 1024 * 1024  # half of what Iceberg aims at


@dataclass(frozen=True)
class HeadFiles:
    """The files of a table's newest snapshot, and how many of them are small."""

    files: int
    small: int  # those with enough others in their partition to be worth a rewrite
    small_bytes: int
    manifests: int  # small ones


def promising(metadata: TableMetadata, rules: TableCare) -> bool:
    """Whether the summary of the last snapshot makes reading the manifests worthwhile."""
    head = metadata.head()
    if head is None or not rules.compact:
        return False
    files = head.count("total-data-files")
    return files is None or files >= min(rules.compact_min_files, rules.compact_min_manifests)


def judged(found: Iterable[ReachableFile], *, target: int, spec: int) -> HeadFiles:
    """How many files a rewrite would replace in a table of this partition spec."""
    small: dict[tuple[Hashable, ...], tuple[int, int]] = {}  # how many in a partition, and bytes
    manifests = files = 0
    for file in found:
        size = file.size or 0
        if file.kind == "data":
            files += 1
            if size < target * SMALL:
                group = _group(file, spec)
                count, total = small.get(group, (0, 0))
                small[group] = (count + 1, total + size)
        elif file.kind == "manifest" and size < _SMALL_MANIFEST:
            manifests += 1
    worth = [group for group in small.values() if group[0] >= LEAST]
    counted, measured = (sum(column) for column in zip(*worth, strict=True)) if worth else (0, 0)
    return HeadFiles(files, counted, measured, manifests)


def _group(file: ReachableFile, spec: int) -> tuple[Hashable, ...]:
    """What Iceberg rewrites together: files of one partition, wherever they are; and all files of
    other specs, with those whose values are all NULL.
    """
    partition = file.partition
    if partition is None or partition.spec != spec:
        return ()
    return partition.values if any(value is not None for value in partition.values) else ()


def plan_compaction(
    table: TableName, metadata: TableMetadata, found: HeadFiles, rules: TableCare, *, target: int
) -> tuple[CompactFiles | RewriteManifests, ...]:
    """A rewrite of files also writes new manifests, so manifests are rewritten only when files are
    not.
    """
    if (
        found.small >= rules.compact_min_files
        and found.small >= rules.compact_small_ratio * found.files
    ):
        why = f"{found.small} of {found.files} files are small"
        step = CompactFiles(
            table=table,
            files=found.small,
            bytes=found.small_bytes,
            target=target,
            sort=bool(metadata.sort_by),
            why=why,
        )
        return (step,)
    if found.manifests >= rules.compact_min_manifests:
        return (
            RewriteManifests(
                table=table, manifests=found.manifests, why=f"{found.manifests} manifests are small"
            ),
        )
    return ()


def rewrite_files(table: TableName, *, target: int, sort: bool, deletes: bool) -> str:
    """Iceberg's procedure, as text. With `deletes`, delete files that no longer mark any row are
    removed too.
    """
    options = {"target-file-size-bytes": str(target), "min-input-files": str(LEAST)}
    if deletes:
        options["remove-dangling-deletes"] = "true"
    listed = ", ".join(f"'{key}', '{value}'" for key, value in options.items())
    strategy = "sort" if sort else "binpack"
    return (
        f"CALL {CATALOG}.system.rewrite_data_files(table => '{_named(table)}', strategy =>"
        f" '{strategy}', options => map({listed}))"
    )


def rewrite_manifests(table: TableName) -> str:
    """Iceberg's procedure, as text."""
    return (
        f"CALL {CATALOG}.system.rewrite_manifests(table => '{_named(table)}', use_caching => false)"
    )


def _named(table: TableName) -> str:
    return ".".join(map(spark_identifier, table.parts))


def compact(
    step: CompactFiles | RewriteManifests,
    services: CareServices,
    held: HeldLease,
    *,
    on_progress: OnProgress,
) -> Done:
    """Let Spark rewrite, and record an event for followers of the table."""
    settle_times(
        services.ports.catalog,
        step.table,
        now=services.ports.leases.store_time(),
        leases=[held.require()],
    )
    before = _head(step.table, services)
    text = (
        rewrite_files(step.table, target=step.target, sort=step.sort, deletes=_has_deletes(before))
        if isinstance(step, CompactFiles)
        else (rewrite_manifests(step.table))
    )
    session = services.ports.sessions.open(new_run_id())
    try:
        with services.ports.sessions.watch(on_progress):
            told = {key: int(value or 0) for key, value in session.rows(text, limit=1)[0].items()}
    finally:
        session.close()
    held.require()
    after = _head(step.table, services)
    if after and before and after.head() != before.head():
        _refuse_other_rows(before, after, step.table)
        services.ports.events.append(
            Event("compacted", step.table, after.refs["main"].snapshot, {"action": step.action})
        )
    counts = {
        name.removesuffix("_count").replace("_", " "): told[name]
        for name in told
        if name.endswith("_count")
    }
    size = counts.pop("rewritten bytes", 0)
    return Done({name: count for name, count in counts.items() if count}, size)


def _has_deletes(metadata: TableMetadata | None) -> bool:
    head = metadata.head() if metadata else None
    return bool(head and head.count("total-delete-files"))


def _head(table: TableName, services: CareServices) -> TableMetadata | None:
    catalog = services.ports.catalog
    return catalog.metadata(catalog.pointers([table]).values()).get(table)


def _refuse_other_rows(before: TableMetadata, after: TableMetadata, table: TableName) -> None:
    """Check that a rewrite changed no row; not possible if others have committed as well."""
    former = before.head()
    fresh = []
    for snapshot in after.ancestry(after.refs["main"].snapshot):
        if former and snapshot.id == former.id:
            break
        fresh.append(snapshot)
    if former and fresh and all(one.operation == "replace" for one in fresh):
        refuse_lost_rows(former, fresh[0], table)


def refuse_lost_rows(former: Snapshot, fresh: Snapshot, table: TableName) -> None:
    """A rewrite leaves out rows that delete files marked. No other row may disappear, and none may
    appear.
    """
    had, has = former.count("total-records"), fresh.count("total-records")
    if had is None or has is None:
        return
    marked = (
        had
        if former.count("total-equality-deletes")
        else former.count("total-position-deletes") or 0
    )
    if not had - marked <= has <= had:
        what = (
            f"rewriting the files of {table} changed its rows from {had} to {has}, and {marked} of"
            " them were deleted before."
        )
        raise RunFailed(
            what,
            safe=f"Snapshot {former.id} has them all.",
            next="Roll back to it, and report this.",
        )
