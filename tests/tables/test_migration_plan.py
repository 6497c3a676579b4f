"""What a migration decides before anything is done: the partitioning, the batches, and whether there is
a way back.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakebed.batches.state import BatchState, BatchStates
from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import (
    MAIN,
    Column,
    Field,
    Partition,
    ReachableFile,
    SetRef,
    SetSpec,
    Snapshot,
    SnapshotRef,
    TableMetadata,
)
from lakebed.tables.migration.batches import plan_batches
from lakebed.tables.migration.checksum import row_sum_query
from lakebed.tables.migration.plan import (
    DeclaredPartitions,
    read_batch_size,
    read_partition_by,
    settled_specs,
    wanted_partitions,
)
from lakebed.tables.migration.state import MIGRATION, begun, migration_of, migration_property
from lakebed.tables.migration.undo import plan_undo

TABLE = TableName("shop", "silver", "orders")
NOW = datetime(2026, 11, 16, tzinfo=UTC)
NONE = BatchStates({})


def snapshot(id: int, operation: str = "append") -> Snapshot:
    return Snapshot(id, id - 1 or None, NOW, operation, {}, sequence=id)


def metadata(*operations: str, **other: object) -> TableMetadata:
    """A table with columns for every test, and a snapshot for each operation."""
    snapshots = {id: snapshot(id, said) for id, said in enumerate(operations, 1)}
    made = TableMetadata(
        uuid="u",
        location="file:///t",
        format_version=2,
        updated_at=NOW,
        columns=tuple(
            Column(name, type, False, id=id)
            for id, (name, type) in enumerate(
                {"id": "long", "at": "timestamptz", "Part": "string", "f": "double"}.items(), 1
            )
        ),
        partition_by=("Part",),
        sort_by=(),
        properties={},
        snapshots=snapshots,
        refs={MAIN: SnapshotRef(MAIN, len(operations), "branch")} if operations else {},
        spec=1,
        specs={0: (), 1: ("Part",), 2: ("month(at)", "Part"), 3: ("Part", "month(at)")},
    )
    return replace(made, **other)  # type: ignore[arg-type]


def wanted(text: str | None, *declared: DeclaredPartitions, batches: BatchStates = NONE) -> str:
    asked = None if text is None else read_partition_by(text)
    fields = wanted_partitions(TABLE, metadata("append"), asked, declared, batches)
    return ", ".join(map(str, fields))


def declared(text: str, *keys: str) -> DeclaredPartitions:
    return DeclaredPartitions("shop/pipelines/silver/orders", read_partition_by(text), keys)


def test_fields_are_written_as_in_config_yaml_and_columns_get_the_case_that_the_table_gives_them() -> (
    None
):
    assert wanted("months(AT), bucket(16,ID), part") == "month(at), bucket(16, id), Part"
    assert wanted("") == ""
    assert read_partition_by(["month(at)", "truncate(2, part)"]) == read_partition_by(
        "month(at),truncate(part, 2)"
    )


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("month(att)", UnknownName, "Did you mean at?"),
        ("mnth(at)", UsageError, "Did you mean month"),
        ("bucket(at)", UsageError, "a width"),
        ("month(id)", UsageError, "id is of type long"),
        ("hour(Part)", UsageError, "Part is of type string"),
        ("truncate(2, f)", UsageError, "f is of type double"),
        (None, UsageError, "no pipeline says how"),
    ],
)
def test_a_partitioning_that_cannot_be_is_refused_before_anything_is_done(
    text: str | None, kind: type[UsageError], said: str
) -> None:
    with pytest.raises(kind) as refused:
        wanted(text)
    assert said in str(refused.value)


def test_a_table_of_another_format_version_is_refused_before_its_partitioning_changes() -> None:
    newer = metadata("append", format_version=3)
    with pytest.raises(UsageError, match="format version 3"):
        wanted_partitions(TABLE, newer, read_partition_by("id"), (), NONE)


def test_a_pipeline_that_declares_another_partitioning_would_take_the_table_back_and_is_asked_first() -> (
    None
):
    draft = declared("month(at), Part")
    assert wanted(None, draft) == "month(at), Part"
    assert wanted("part, month(at)", draft) == "Part, month(at)", "their order means nothing"
    with pytest.raises(
        UsageError, match=r"silver/orders declares .* by month\(at\), Part"
    ) as refused:
        wanted("id", draft)
    assert "partition_by: [id]" in refused.value.next
    released = DeclaredPartitions("version 3", read_partition_by("Part"))
    with pytest.raises(UsageError, match="version 3 declares"):
        wanted(None, draft, released)


def test_batch_keys_stay_partition_fields_since_a_batch_replaces_whole_files() -> None:
    written = BatchStates({"Part=a": BatchState("Part=a", "d", "c")})
    for given in ("month(at)", "truncate(1, Part)"):
        with pytest.raises(UsageError, match="in batches by Part") as refused:
            wanted(given, batches=written)
    assert "--partition-by 'truncate(1, Part), Part'" in refused.value.next
    assert wanted("month(at), part", batches=written) == "month(at), Part"
    with pytest.raises(UsageError, match="in batches by id"):
        wanted(None, declared("month(at)", "id"))


def test_files_of_a_spec_with_the_same_fields_stay_where_they_are() -> None:
    assert settled_specs(metadata(), read_partition_by("month(at), part")) == {2, 3}
    assert settled_specs(metadata(), ()) == {0}
    assert settled_specs(metadata(), read_partition_by("id")) == frozenset()


def data(number: int, partition: Partition, *, size: int = 10) -> ReachableFile:
    return ReachableFile(f"/d/{number:05}.parquet", "data", size, 2, partition)


def test_files_of_a_partition_go_together_a_batch_is_bounded_and_no_file_is_left_out() -> None:
    parts = [Partition(1, (value,)) for value in ("a", "b", None)]
    files = [data(number, parts[number % 3]) for number in range(30)]
    others = [data(99, Partition(2, (5, "a"))), ReachableFile("/m", "manifest", 1)]
    deletes = ReachableFile("/x", "deletes", 1, 1, parts[0])
    found = [*files, *others, deletes, files[0]]
    with plan_batches(found, settled={2}, specs=metadata().specs, limit=60) as planned:
        batches = planned.batches
        taken = [sorted(planned.files(batch)) for batch in reversed(batches)]
    assert sorted(path for part in taken for path in part) == [file.location for file in files]
    assert max(batch.bytes for batch in batches) <= 60
    assert [batch.label for batch in batches] == [
        "Part=null", "Part=null", "Part=a", "Part=a", "Part=b", "Part=b",
    ]  # fmt: skip
    assert [batch.number for batch in batches] == [1, 2, 3, 4, 5, 6]
    assert sum(batch.rows for batch in batches) == 60


def test_small_partitions_share_a_batch_and_a_large_file_is_one_by_itself() -> None:
    months = [data(number, Partition(2, (number - 1, "x"))) for number in range(4)]
    large = data(9, Partition(2, (600, "y")), size=500)
    with plan_batches([*months, large], settled=(), specs=metadata().specs, limit=100) as planned:
        labels = [batch.label for batch in planned.batches]
    assert labels == [
        "month(at)=1969-12/Part=x … month(at)=1970-03/Part=x",
        "month(at)=2020-01/Part=y",
    ]


def test_the_sum_tells_null_columns_and_nulls_inside_of_lists_apart() -> None:
    query = row_sum_query("t", [Field("a", "bigint"), Field("l", "array<int>")])
    assert "xxhash64(0, `a`)" in query
    assert "to_json(struct(`l` AS v)" in query
    assert "DECIMAL(20, 0)" in query


def test_a_size_that_is_none_is_refused() -> None:
    assert (read_batch_size("1GiB"), read_batch_size(5)) == (1024**3, 5)
    for given in ("much", "0", -1):
        with pytest.raises(UsageError, match="not a size"):
            read_batch_size(given)


def migrated(*operations: str, done: bool = True, **other: object) -> TableMetadata:
    """A table after its migration, which began at the first snapshot."""
    first = begun(metadata("append"), ("month(at)",), id="ab" * 16)
    told = {MIGRATION: migration_property(replace(first, done=done))}
    return metadata("append", *operations, properties=told, spec=2, **other)


def test_an_undo_goes_back_to_snapshot_spec_and_properties_in_one_commit() -> None:
    migration, amendments = plan_undo(TABLE, migrated("replace", "replace"))
    assert migration.from_ == ("Part",)
    assert SetRef(MAIN, 1) in amendments
    assert SetSpec(1) in amendments
    assert migration_of(migrated("replace")) == migration


@pytest.mark.parametrize(
    ("present", "said"),
    [
        (metadata("append"), "no migration to undo"),
        (migrated("replace", "append"), "written to since"),
        (migrated("replace", "overwrite", "replace"), "written to since"),
        (migrated("replace", snapshots={2: snapshot(2, "replace")}), "has expired"),
        (migrated("replace", columns=()), "no such column any more"),
    ],
)
def test_an_undo_that_would_lose_rows_is_refused_with_what_to_do(
    present: TableMetadata, said: str
) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        plan_undo(TABLE, present)
    if "since" in said or "expired" in said:
        assert (
            "lakebed table migrate shop.silver.orders --partition-by 'Part'" in refused.value.next
        )


def test_an_interrupted_migration_keeps_its_way_back_even_to_another_partitioning() -> None:
    half = migrated("replace", done=False)
    again = begun(half, ("id",), id="cd" * 16)
    assert (again.id, again.snapshot, again.spec, again.to) == ("ab" * 16, 1, 1, ("id",))
    after = begun(migrated("replace"), ("id",), id="cd" * 16)
    assert (after.id, after.snapshot, after.spec) == ("cd" * 16, 2, 2)
