"""What is due for layouts is decided before anything is done."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from lakebed.batches.keys import BatchKey, KeyValues
from lakebed.batches.state import BatchState, BatchStates
from lakebed.derived.building.batches import (
    MOST_BATCHES,
    BatchSize,
    any_batch,
    batches_of_files,
    batches_of_rows,
)
from lakebed.derived.building.columns import SOURCE_COLUMNS, column_ids, fit_of, rows_query
from lakebed.derived.building.plan import (
    BatchLook,
    LayoutTables,
    large_batches,
    plan_batches,
    plan_tables,
)
from lakebed.derived.building.steps import BuildBatches
from lakebed.derived.checks import (
    DeclaredLayouts,
    complete_spec,
    impossible_layouts,
    only_reorders,
    renamed_spec,
    require_possible,
)
from lakebed.derived.freshness import Freshness, columns_digest, source_digest
from lakebed.derived.identity import COVERS, Layout, layout_properties
from lakebed.derived.labels import FileLabels
from lakebed.derived.spec import LayoutSpec, read_layout
from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import (
    Column,
    Pointer,
    ScanFile,
    Snapshot,
    SnapshotRef,
    TableMetadata,
)
from lakebed.types import parse_type

TABLE = TableName("econ", "silver", "income")
HIDDEN = TableName("econ", "silver", "_mv_" + "a" * 32)
AT = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS = (
    Column("year", "int", False, id=1),
    Column("geo", "string", False, id=2),
    Column("at", "timestamptz", False, id=3),
    Column("v", "double", False, id=4),
)
HEAD = Snapshot(7, None, AT, "append", {"total-records": "9"}, schema=0)


def metadata(columns: Sequence[Column] = COLUMNS, **given: object) -> TableMetadata:
    made = TableMetadata(
        "src", "s3://x", 2, AT, tuple(columns), ("year",), (), {}, {7: HEAD},
        {"main": SnapshotRef("main", 7, "branch")}, schemas={0: COLUMNS},
    )  # fmt: skip
    return replace(made, **given)  # type: ignore[arg-type]


def spec(**given: object) -> LayoutSpec:
    return LayoutSpec.model_validate(read_layout(given))


def layout(of: LayoutSpec, columns: Sequence[Column] = COLUMNS, **given: object) -> Layout:
    told = layout_properties(of, HIDDEN, "src") | {SOURCE_COLUMNS: column_ids(columns)}
    own = tuple(replace(column, id=column.id + 50) for column in columns)
    table = metadata(own, uuid="mv", properties=told)
    return Layout(Pointer(HIDDEN, "there"), replace(table, **given), of)  # type: ignore[arg-type]


# -- completing and checking


def test_batches_are_the_pipelines_or_else_the_tables_first_partition_column() -> None:
    asked = spec(partition_by=["GEO"], sort_by=["V desc"])
    assert complete_spec(asked, metadata()).batch_by == ("year",)
    assert complete_spec(asked, metadata(), batch_columns=("GEO",)).batch_by == ("geo",)
    assert complete_spec(asked, metadata(), batch_columns=("gone",)).batch_by == ("year",)
    assert complete_spec(asked, metadata(partition_by=())).batch_by == ()
    assert complete_spec(asked, metadata(partition_by=("v", "day(at)", "geo"))).batch_by == ("geo",)
    assert complete_spec(spec(sort_by="v", batch_by=[]), metadata()).batch_by == ()
    keyed = spec(partition_by=["geo"], incremental_keys=["year"])
    assert complete_spec(keyed, metadata()).batch_by == ("year",)
    done = complete_spec(asked, metadata())
    assert (list(map(str, done.fields)), done.sort_by) == (["geo", "year"], ("v desc",))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"partition_by": ["month(geo)"]}, "month(geo) cannot be computed: geo is of type string"),
        ({"partition_by": ["bucket(4, v)"]}, "bucket(4, v) cannot be computed"),
        ({"partition_by": ["truncate(2, at)"]}, "truncate(2, at) cannot be computed"),
        ({"partition_by": ["day(at)", "hour(at)"]}, "day(at) and hour(at) exclude each other"),
        ({"sort_by": ["year(v)"]}, "year(v) cannot be computed"),
        ({"partition_by": ["geo"], "batch_by": ["at"]}, "at: a batch key cannot be of type"),
        ({"partition_by": {"keys": [{"name": "year", "type": "VARCHAR"}]}}, "declares year as"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        require_possible(complete_spec(spec(**given), metadata()), TABLE, metadata())
    assert said in str(refused.value)


def test_every_layout_that_cannot_be_built_is_named() -> None:
    asked = (
        spec(name="fine", partition_by=["geo"]),
        spec(name="hours", partition_by=["day(at)", "hour(at)"]),
        spec(name="months", partition_by=["month(geo)"]),
        spec(name="gone", partition_by=["nothing"]),
    )
    told = list(impossible_layouts(DeclaredLayouts(asked), TABLE, metadata()))
    assert [one.split()[2] for one in told] == ["hours", "months", "gone"]
    assert "unless this run adds it: there is no column" in told[-1]
    first_run = impossible_layouts(DeclaredLayouts(asked), TABLE, None)
    assert [one.split()[2] for one in first_run] == ["hours"]


def test_near_columns_are_suggested() -> None:
    with pytest.raises(UnknownName, match="Did you mean geo"):
        require_possible(spec(sort_by=["gio"]), TABLE, metadata())


def test_the_same_partitions_in_another_order_gain_nothing() -> None:
    table = metadata(partition_by=("year", "geo"))
    assert only_reorders(spec(partition_by=["geo", "year"], batch_by=["year"]), table)
    assert not only_reorders(spec(partition_by=["geo"], sort_by="v", batch_by=["year"]), table)
    assert not only_reorders(spec(partition_by=["geo"], batch_by=[]), table)  # fewer, larger files
    assert not only_reorders(spec(partition_by=["truncate(1, geo)"], batch_by=[]), table)


# -- columns


def test_a_layout_fits_as_long_as_its_columns_are_those_of_the_table() -> None:
    of = spec(partition_by=["geo"], batch_by=["year"])
    new = Column("n", "string", False, id=9)
    assert fit_of(layout(of), metadata()) == "same"
    assert fit_of(layout(of), metadata(COLUMNS[::-1])) == "same"
    assert fit_of(layout(of), metadata((new, *COLUMNS))) == "lacks"
    assert fit_of(layout(of), metadata((replace(new, default=1), *COLUMNS))) == "other"
    assert fit_of(layout(of), metadata((replace(new, required=True), *COLUMNS))) == "other"
    assert fit_of(layout(of), metadata(COLUMNS[1:])) == "other"
    again = replace(COLUMNS[3], id=11)  # dropped, and added again
    assert fit_of(layout(of), metadata((*COLUMNS[:3], again))) == "other"
    wider = replace(COLUMNS[0], type="long")
    assert fit_of(layout(of), metadata((wider, *COLUMNS[1:]))) == "other"


def test_a_snapshot_is_read_with_the_present_columns() -> None:
    changed = (
        replace(COLUMNS[0], type="long"),
        replace(COLUMNS[1], name="region"),
        Column("n", "string", False, id=9),
    )
    query = rows_query(TABLE, metadata(changed), 7, where="`region` = 'x'")
    assert query == (
        "SELECT * FROM (SELECT CAST(`year` AS bigint) AS `year`, `geo` AS `region`, CAST(NULL AS"
        " string) AS `n` FROM lake.`econ`.`silver`.`income` VERSION AS OF 7) AS t WHERE"
        " `region` = 'x'"
    )
    with pytest.raises(UsageError, match="with a default"):
        rows_query(TABLE, metadata((*COLUMNS, Column("d", "int", False, id=8, default=1))), 7)


def test_renamed_columns_are_followed() -> None:
    of = spec(partition_by=["truncate(2, geo)"], sort_by=["geo desc"], batch_by=["year"])
    table = metadata((COLUMNS[0], replace(COLUMNS[1], name="region"), *COLUMNS[2:]))
    found = renamed_spec(of, table)
    assert (found.name, list(map(str, found.fields))) == (
        "by_geo",
        ["truncate(2, region)", "year"],
    )
    assert found.sort_by == ("region desc",)


# -- tables


def planned(
    *present: Layout, declared: Sequence[LayoutSpec] | None, **source: object
) -> LayoutTables:
    return plan_tables(TABLE, metadata(**source), present, declared)  # type: ignore[arg-type]


def test_what_is_declared_is_made_and_what_is_not_is_told() -> None:
    one, other = spec(name="a", partition_by=["geo"]), spec(name="b", sort_by=["v"])
    found = planned(declared=[one, other])
    assert [step.action for step in found.steps] == ["create layout"] * 2
    there = layout(complete_spec(one, metadata()))
    found = planned(there, declared=[other])
    assert ([step.name for step in found.steps], found.undeclared) == (["b"], ("a",))
    assert planned(there, declared=None).undeclared == ()
    assert planned(there, declared=None).steps == ()
    assert planned(there, declared=[one]).steps == ()


def test_another_spec_and_other_columns_make_it_anew_and_new_ones_are_added() -> None:
    there = layout(complete_spec(spec(name="a", partition_by=["geo"]), metadata()))
    (step,) = planned(there, declared=[spec(name="A", partition_by=["bucket(2, geo)"])]).steps
    assert (step.action, step.why) == ("create layout", "it is declared otherwise")
    (step,) = planned(there, declared=None, columns=COLUMNS[:3]).steps
    assert (step.action, step.why) == ("create layout", "the table's columns have changed")
    more = (*COLUMNS, Column("n", "string", False, id=9))
    (step,) = planned(there, declared=None, columns=more).steps
    assert (step.action, step.subject) == ("add columns", "econ.silver.income a")


def test_of_two_layouts_of_one_name_the_newest_that_fits_stays() -> None:
    of = complete_spec(spec(name="a", partition_by=["geo"]), metadata())
    old = layout(of)
    new = replace(
        layout(of, updated_at=datetime(2026, 2, 1, tzinfo=UTC)),
        pointer=Pointer(TableName("econ", "silver", "_mv_" + "b" * 32), "x"),
    )
    (step,) = planned(old, new, declared=None).steps
    assert (step.action, getattr(step, "table", None)) == ("forget layout", old.table)


# -- batches


def look(
    *batches: BatchSize, fresh: Sequence[str] = (), stale: Sequence[str] = (), **given: object
) -> BatchLook:
    of = complete_spec(spec(partition_by=["geo"]), metadata())
    digest, schema = source_digest("src", 7), columns_digest(metadata())
    states = {label: BatchState(label, digest, of.digest, schema) for label in (*fresh, *stale)}
    known = BatchLook(
        TABLE,
        metadata(),
        7,
        layout(of),
        (BatchKey("year", parse_type("int")),),
        BatchStates(states),
        Freshness(frozenset(fresh), dict.fromkeys(stale, "changed")),
        batches,
    )
    return replace(known, **given)  # type: ignore[arg-type]


def size(year: int, bytes_: int = 10) -> BatchSize:
    return BatchSize(f"year={year}", (year,), 1, bytes_, 1)


def steps(found: BatchLook, **given: object) -> list[str]:
    return [step.action for step in plan_batches(found, **given)]  # type: ignore[arg-type]


def test_only_stale_missing_and_gone_batches_are_due() -> None:
    found = look(size(1), size(2), size(3), fresh=["year=1"], stale=["year=2", "year=9"])
    plan = plan_batches(found)
    assert [step.action for step in plan] == ["remove batches", "build batches", "stamp"]
    (build,) = [step for step in plan if isinstance(step, BuildBatches)]
    assert [batch.label for batch in build.batches] == ["year=2", "year=3"]


def test_there_is_nothing_to_do_once_all_is_stamped() -> None:
    found = look(size(1), fresh=["year=1"])
    assert steps(found) == ["stamp"]
    covered = {**found.layout.metadata.properties, COVERS: "7"}
    stamped = replace(
        found,
        layout=replace(found.layout, metadata=replace(found.layout.metadata, properties=covered)),
    )
    assert steps(stamped) == []
    assert steps(stamped, force=True) == ["clear layout", "build batches", "stamp"]


def test_what_nobody_tells_of_is_cleared_first() -> None:
    clear = ["clear layout", "build batches", "stamp"]
    tainted = Freshness(stale={"year=1": "tainted"})
    assert steps(look(size(1), stale=["year=1"], freshness=tainted)) == clear
    assert steps(look(size(1))) == clear  # it has rows, and says nothing of them
    assert steps(look(size(1), states=BatchStates({}, incomplete=True))) == clear
    assert steps(look(size(1), fresh=["what?"])) == clear
    empty = replace(look(size(1)).layout.metadata, snapshots={}, refs={})
    new = replace(look(size(1)).layout, metadata=empty)
    assert steps(look(size(1), layout=new)) == ["build batches", "stamp"]


def test_batches_are_grouped_up_to_a_budget_and_a_number() -> None:
    def groups(found: BatchLook, budget: int) -> list[int]:
        return [
            len(step.batches)
            for step in plan_batches(found, budget=budget)
            if isinstance(step, BuildBatches)
        ]

    assert groups(look(*(size(year) for year in range(7)), fresh=["year=999"]), 30) == [3, 3, 1]
    assert groups(look(size(1), size(2, 500), size(3), fresh=["year=999"]), 30) == [1, 1, 1]
    assert groups(look(*(size(year, 0) for year in range(450)), fresh=["year=999"]), 30) == [
        200,
        200,
        50,
    ]


def test_a_large_batch_names_a_finer_key() -> None:
    found = look(size(1, 2_000_000_000))
    (warning,) = large_batches(found, budget=1_000_000_000)
    assert warning.endswith(
        "The table has no further partition column to divide them by: partition it finer."
    )
    finer = replace(found, source=metadata(partition_by=("year", "day(at)", "geo")))
    assert "Consider a finer batch_by: year, geo." in "".join(large_batches(finer, budget=10))
    assert list(large_batches(found, budget=3_000_000_000)) == []


def file(size: int, **values: object) -> ScanFile:
    ids = {"year": 1, "geo": 2}
    return ScanFile(
        "f", size, 3, partition={(ids[key], "identity"): v for key, v in values.items()}
    )


def test_files_tell_the_batches_of_a_table() -> None:
    labels = FileLabels(COLUMNS, ["year"])
    found = batches_of_files(labels, [file(5, year=2020), file(7, year=2019), file(1, year=2020)])
    assert found == [
        BatchSize("year=2019", (2019,), 1, 7, 3),
        BatchSize("year=2020", (2020,), 2, 6, 6),
    ]
    assert batches_of_files(labels, [file(5, geo="x")]) is None
    assert batches_of_files(FileLabels(COLUMNS, []), [file(5), file(6)]) == [
        BatchSize("", (), 2, 11, 6)
    ]


def test_rows_tell_them_where_files_do_not_and_there_may_be_too_many() -> None:
    keys = FileLabels(COLUMNS, ["year"]).keys
    found = batches_of_rows(keys, [{"year": None}, {"year": 2019}], [file(10), file(20)])
    assert [(one.label, one.bytes) for one in found] == [
        ("year=2019", 15),
        ("year=__HIVE_DEFAULT_PARTITION__", 15),
    ]
    with pytest.raises(UsageError, match="too many for batches"):
        batches_of_rows(keys, [{"year": year} for year in range(MOST_BATCHES + 1)], [])


@pytest.mark.parametrize(
    ("types", "batches", "expected"),
    [
        ((), [()], "(TRUE)"),
        (("int",), [(1,), (2,)], "`k0` IN (1, 2)"),
        (("int",), [(None,)], "`k0` IS NULL"),
        (("string",), [("a'b",), (None,)], "`k0` IN ('a\\'b') OR `k0` IS NULL"),
        (("date",), [(date(2020, 1, 2),)], "`k0` IN (DATE '2020-01-02')"),
        (("decimal(4,2)",), [(Decimal("1.50"),)], "`k0` IN (CAST('1.50' AS decimal(4,2)))"),
        (("int", "string"), [(1, None)], "(`k0` = 1 AND `k1` IS NULL)"),
    ],
)
def test_conditions_mean_exactly_some_batches(
    types: Sequence[str], batches: list[KeyValues], expected: str
) -> None:
    keys = [BatchKey(f"k{number}", parse_type(type_)) for number, type_ in enumerate(types)]
    assert any_batch(keys, batches) == expected
