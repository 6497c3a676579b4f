"""What the pure parts of a check decide."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.care.fsck.files import judge_content, to_read
from lakebed.care.fsck.newer import newer
from lakebed.care.fsck.plan import FsckState, judge
from lakebed.care.fsck.pointing import Replacement, replacement
from lakebed.care.fsck.rebuild import plan_rebuild
from lakebed.care.fsck.spec import Heal, PipelineInventory, Purge, Repair, Settle, Unpin
from lakebed.names import TableName
from lakebed.ports import (
    MAIN,
    NAME,
    SOURCE_UUID,
    UNPUBLISHED,
    Checksum,
    Event,
    FileContent,
    MetadataFile,
    PinRow,
    Pointer,
    Publication,
    RecordedEvent,
    RefMove,
    RunRecord,
    Snapshot,
    SnapshotProtection,
    SnapshotRef,
    TableMetadata,
    UnsettledChange,
)
from lakebed.settings import Root

ROOT = Root.parse("/lake")
THEN = datetime(2026, 11, 1, tzinfo=UTC)
ORDERS = TableName("shop", "silver", "orders")


def file(
    number: int,
    *snapshots: int,
    uuid: str = "u1",
    folder: str = "orders",
    earlier: tuple[str, ...] = (),
    properties: dict[str, str] | None = None,
) -> MetadataFile:
    """A metadata file, written `number` minutes after the first."""
    at = THEN + timedelta(minutes=number)
    place = ROOT.at(f"shop/warehouse/silver/{folder}")
    known = {one: Snapshot(one, None, at, "append", {}) for one in snapshots}
    refs = {MAIN: SnapshotRef(MAIN, snapshots[-1], "branch")} if snapshots else {}
    metadata = TableMetadata(
        uuid, place, 2, at, (), (), (), properties or {}, known, refs, metadata_log=earlier
    )
    return MetadataFile(f"{place}/metadata/{number:05d}-x.metadata.json", number, metadata)


def noted(kind: str, snapshot: int | None = None, *, minutes: float = 0) -> RecordedEvent:
    return RecordedEvent(1, THEN + timedelta(minutes=minutes), Event(kind, ORDERS, snapshot))  # type: ignore[arg-type]


DERIVED = TableName("shop", "silver", "mv_" + "0" * 32)
LOST = "file:///lake/shop/warehouse/silver/orders/metadata/00002-x.metadata.json"


@pytest.mark.parametrize(
    ("before", "files", "lists", "events", "said"),
    [
        (1, [file(0, 1), file(1, 1, 2)], {1, 2}, [], 1),
        (1, [file(1, 1, 2)], {1, 2}, [noted("published", 2, minutes=1)], 1),
        (None, [file(0, 1), file(3, 1, 2, earlier=(LOST,))], {1, 2}, [], 3),
        (1, [file(1, 1, 2), file(2, 1, 2)], {1, 2}, [], 1),  # the other one was never committed
        (1, [file(0, 1, 9), file(1, 1, 2)], {1, 2, 9}, [], 1),  # 9 has expired since
        (None, [], {1}, [], "no other"),
        (1, [file(1, 1)], {1, 2}, [], "does not know snapshot 2"),
        (None, [file(0, 1)], {1}, [], "not its direct predecessor"),
        (1, [file(1, 1), file(0, 5, uuid="u2")], {1}, [], "several tables"),
        (1, [file(1, 1, 2)], {1, 2}, [noted("rolled_back", 1)], "main stood at snapshot 1"),
        (1, [file(1, 1, 2)], {1, 2}, [noted("tagged", 2, minutes=2)], "was tagged after"),
        (1, [file(1, 1, 2)], {1, 2}, [noted("tagged", 2, minutes=1)], 1),
    ],
)
def test_a_lost_metadata_file_is_replaced_only_where_nothing_is_lost(
    before: int | None,
    files: list[MetadataFile],
    lists: set[int],
    events: list[RecordedEvent],
    said: int | str,
) -> None:
    found = replacement(
        LOST, next((one for one in files if one.number == before), None), files, lists, events
    )
    if isinstance(said, int):
        assert isinstance(found, Replacement)
        assert (found.file.number, found.replay) == (said, None)
    else:
        assert isinstance(found, str)
        assert said in found


def names(files: list[MetadataFile], **known: object) -> dict[str, int]:
    taken = {"present": (), "names": (), "dropped": ()} | known
    return {str(one.name): one.file.number for one in plan_rebuild(files, ROOT, **taken).register}  # type: ignore[arg-type]


def test_the_newest_metadata_file_of_each_table_counts() -> None:
    assert names([file(1), file(7), file(3), file(2, uuid="u2", folder="b")]) == {
        "shop.silver.orders": 7,
        "shop.silver.b": 2,
    }


@pytest.mark.parametrize(
    ("folder", "properties", "name"),
    [
        ("orders", {}, "shop.silver.orders"),
        ("orders-0123abcd", {}, "shop.silver.orders"),
        ("orders-0123abc", {}, "shop.silver.orders-0123abc"),
        ("~5fodd", {}, "shop.silver._odd"),
        ("orders", {NAME: "shop.gold.new"}, "shop.gold.new"),
        ("orders", {NAME: "not a name"}, "shop.silver.orders"),
        ("run_" + "0" * 32, {}, None),
        ("stage_" + "0" * 32, {}, None),
        ("mv_" + "0" * 32, {}, "shop.silver.mv_" + "0" * 32),
        ("~5fmv_" + "0" * 32, {}, "shop.silver._mv_" + "0" * 32),
        ("mv_" + "0" * 32 + "-0123abcd", {}, "shop.silver.mv_" + "0" * 32),
        ("mv_" + "0" * 32, {NAME: "shop.gold.mine"}, "shop.gold.mine"),
        ("orders", {UNPUBLISHED: "true"}, None),
        ("a" * 180 + "~0123456789abcdef", {}, None),
        ("deeper/still", {}, None),
    ],
)
def test_a_name_comes_from_the_metadata_else_from_the_folder(
    folder: str, properties: dict[str, str], name: str | None
) -> None:
    assert list(names([file(1, folder=folder, properties=properties)])) == ([name] if name else [])


def test_nothing_that_is_known_is_taken_up_again() -> None:
    files = [file(1), file(2, uuid="u2", folder="b"), file(3, uuid="u3", folder="c")]
    assert (
        names(files, present={"u1"}, dropped={"u2"}, names=[TableName("shop", "silver", "C")]) == {}
    )


def test_of_two_tables_that_want_one_name_the_newer_gets_it() -> None:
    plan = plan_rebuild(
        [file(1), file(2, uuid="u2", folder="orders-0123abcd")],
        ROOT,
        present=(),
        names=(),
        dropped=(),
    )
    assert [one.file.metadata.uuid for one in plan.register] == ["u2"]
    assert [place for place, _ in plan.skipped] == [file(1).location]


def test_a_derived_table_whose_name_is_taken_is_not_shown_under_another() -> None:
    files = [file(1, folder=DERIVED.name), file(2, uuid="u2", folder=f"{DERIVED.name}-0123abcd")]
    assert names(files) == {str(DERIVED): 2}


def test_tables_that_have_gone_on_are_known_by_uuid_or_by_folder() -> None:
    there, gone = Pointer(ORDERS, file(1).location), Pointer(ORDERS, LOST)
    assert [
        one.file.number
        for one in newer([there], [file(1), file(4), file(9, uuid="u2", folder="b")], ROOT)
    ] == [4]
    assert [(one.file.number, one.readable) for one in newer([gone], [file(1), file(4)], ROOT)] == [
        (4, False)
    ]
    assert newer([there], [file(1), file(0)], ROOT) == ()


RUN = "0" * 32
HIDDEN = TableName("shop", "silver", f"run_{RUN}")
RUNNING = RunRecord(RUN, "i1", ORDERS, "running", THEN)
MADE = PipelineInventory(frozenset({ORDERS}))


def branched(*refs: str) -> TableMetadata:
    return replace(
        file(1, 7).metadata, refs={name: SnapshotRef(name, 7, "branch") for name in (MAIN, *refs)}
    )


def derived(source: str, *refs: str) -> TableMetadata:
    return replace(branched(*refs), uuid="u2", properties={SOURCE_UUID: source} if source else {})


@pytest.mark.parametrize(
    ("state", "found"),
    [
        (FsckState({ORDERS: branched("mine", "run_1")}), {}),
        (FsckState({ORDERS: branched(f"run_{RUN}")}), {"stale branch": Heal(ORDERS)}),
        (FsckState({ORDERS: branched(f"run_{RUN}")}, leased=frozenset({ORDERS})), {}),
        (FsckState({ORDERS: branched()}, running=(RUNNING,)), {"dead run": Heal(ORDERS)}),
        (FsckState({ORDERS: branched()}, running=(RUNNING,), leased=frozenset({ORDERS})), {}),
        (FsckState({ORDERS: branched(), HIDDEN: branched()}), {"left-over table": Purge(HIDDEN)}),
        (
            FsckState({ORDERS: branched(), HIDDEN: branched()}, shared=frozenset({HIDDEN})),
            {"left-over table": None},
        ),
        (
            FsckState(
                {ORDERS: branched(), HIDDEN: branched()},
                running=(RUNNING,),
                leased=frozenset({ORDERS}),
            ),
            {},
        ),
        (
            FsckState(
                {ORDERS: branched(), HIDDEN: branched()},
                unsettled=(Publication("r", (RefMove(HIDDEN, MAIN, 7, None),)),),
            ),
            {"divided publication": Settle()},
        ),
        (
            FsckState(
                {ORDERS: branched()},
                unsettled_changes=(UnsettledChange(ORDERS, f"the drop of {ORDERS}"),),
            ),
            {"divided change": Settle()},
        ),
        (
            FsckState(
                {ORDERS: branched()},
                pins=(PinRow("r1", ORDERS, 7, False), PinRow("r2", ORDERS, 7, True)),
            ),
            {"dead pin": Unpin(("r1",))},
        ),
        (
            FsckState(
                {ORDERS: branched(), HIDDEN: branched()},
                holds=(SnapshotProtection("mirror", HIDDEN, 7),),
            ),
            {"left-over table": None},
        ),
        (
            FsckState(
                {ORDERS: branched()}, ledger={ORDERS: 3, TableName("shop", "silver", "gone"): 1}
            ),
            {"ledger of unknown table": None},
        ),
        (FsckState({ORDERS: branched()}, ledger={ORDERS: 3, HIDDEN: 1}), {}),
        (FsckState({}, damaged=frozenset({ORDERS})), {}),
        (FsckState({ORDERS: branched(), DERIVED: derived("u1")}), {}),
        (
            FsckState({ORDERS: branched(), DERIVED: derived("u1", f"run_{RUN}")}),
            {"stale branch": Heal(DERIVED)},
        ),
        (
            FsckState({ORDERS: branched(), DERIVED: derived("u9")}),
            {"derived table without source": None},
        ),
        (
            FsckState({ORDERS: branched(), DERIVED: derived("")}),
            {"derived table without source": None},
        ),
        (
            FsckState({ORDERS: branched(), DERIVED: derived("u9")}, dropped=frozenset({"u9"})),
            {},
        ),
        (FsckState({DERIVED: derived("u9")}, damaged=frozenset({ORDERS})), {}),
        (FsckState({}), {"pipeline without table": None}),
        (FsckState({}, views=frozenset({ORDERS})), {}),
    ],
)
def test_tables_and_state_are_judged_against_each_other(
    state: FsckState, found: dict[str, Repair | None]
) -> None:
    assert {one.kind: one.repair for one in judge(replace(state, pipelines=MADE))} == found


def test_files_never_read_come_first_then_those_read_longest_ago() -> None:
    known = {
        name: Checksum(name, "s", 1, THEN + timedelta(days=day))
        for name, day in (("a", 3), ("b", 1), ("c", 2))
    }
    assert to_read("abcd", known, limit=2) == ("d", "b")
    assert to_read("abcd", known, limit=None) == ("d", "b", "c", "a")


def test_content_is_judged_by_itself_and_by_what_it_was() -> None:
    known = Checksum("a", "s1", 1, THEN)
    assert judge_content("t", "a", FileContent("s1", 1), known) is None
    assert judge_content("t", "a", FileContent("s2", 1), None) is None
    changed, broken = (
        judge_content("t", "a", FileContent("s2", 1), known),
        judge_content("t", "a", FileContent("s1", 1, "torn"), known),
    )
    assert changed
    assert broken
    assert (changed.kind, broken.kind) == ("changed file", "damaged file")
