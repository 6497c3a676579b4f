"""Finding the bad files among many, with an engine that answers from a script."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from lakebed.errors import BadFiles
from lakebed.landing import ZoneSpec, open_zone
from lakebed.landing.checking.read_groups import (
    ReadGroup,
    columns_to_read,
    schema_difference,
    target_types,
)
from lakebed.names import ZoneName
from lakebed.ports import Field, FileGroup, FileInfo, FileRows, UnreadableFiles
from lakebed.testing import MemoryFiles
from lakebed.types import parse_type
from tests.support.lakes.landing_zones import cut, zipped

ZONE = ZoneName("shop", "orders")


@dataclass
class Scripted:
    """Reads a file as one row of the columns id and name; fails as it is told."""

    fails: Callable[[str], bool] = lambda _: False
    names_culprits: bool = False
    infers: Mapping[str, str] = field(default_factory=lambda: {"id": "int", "name": "string"})
    asked: list[int] = field(default_factory=list)

    def _failure(self, paths: Sequence[str]) -> UnreadableFiles | None:
        culprit = next(filter(self.fails, paths), None)
        return (
            UnreadableFiles("it makes no sense", culprit if self.names_culprits else None)
            if culprit
            else None
        )

    def infer(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        return self._failure(group.paths) or tuple(Field(*column) for column in self.infers.items())

    def check(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        paths = [path for group in groups for path in group.paths]
        self.asked.append(len(paths))
        return self._failure(paths) or tuple(FileRows(path, 1, filled=(1, 1)) for path in paths)

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        return {}

    def two_spellings(self, groups: Sequence[FileGroup], column: str) -> tuple[str, str] | None:
        return None

    def read(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> Any:
        return [path for group in groups for path in group.paths] if groups else list(fields)

    @property
    def observes(self) -> bool:
        return False

    def read_observed(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> Any:
        raise NotImplementedError


def landed(count: int) -> tuple[MemoryFiles, list[FileInfo]]:
    files = MemoryFiles()
    return files, [
        files.write(f"{ZONE.folder}/{place:03}.csv", b"id,name\n1,a\n") for place in range(count)
    ]


def opened(
    reader: Scripted, files: MemoryFiles, chosen: Sequence[FileInfo], **settings: Any
) -> Any:
    spec = ZoneSpec.model_validate(settings)
    return open_zone(
        reader, files, ZONE, chosen, spec, address=lambda path: f"mem://{path}", run_id="r1"
    )


def test_good_files_are_checked_in_one_job() -> None:
    files, chosen = landed(50)
    reader = Scripted()
    found = opened(reader, files, chosen)
    assert reader.asked == [50]
    assert found.files == tuple(chosen)
    assert sum(found.rows_by_file.values()) == 50


@pytest.mark.parametrize("names_culprits", [True, False])
def test_culprits_are_found_by_dividing_and_the_others_are_read(names_culprits: bool) -> None:
    files, chosen = landed(64)
    bad = {"mem://shop/landing/orders/007.csv", "mem://shop/landing/orders/040.csv"}
    reader = Scripted(fails=bad.__contains__, names_culprits=names_culprits)
    found = opened(reader, files, chosen, infer_types=False)
    assert {f"mem://{one.path}" for one in found.set_aside} == bad
    assert {one.reason for one in found.set_aside} == {"it makes no sense"}
    assert len(found.frame) == len(found.rows_by_file) == 62
    assert len(reader.asked) < 30


def test_many_torn_files_are_found_without_a_job_for_each() -> None:
    files = MemoryFiles()
    whole, torn = (
        zipped("id,name\n" + "1,a\n" * 9),
        cut(zipped("id,name\n" + "".join(f"{n},{n * 7919}\n" for n in range(9_000)))),
    )
    chosen = [
        files.write(f"{ZONE.folder}/{n:03}.csv.gz", torn if 40 <= n < 60 else whole)
        for n in range(200)
    ]
    reader = Scripted(fails=lambda path: "/04" in path or "/05" in path, names_culprits=True)
    found = opened(reader, files, chosen, infer_types=False)
    assert {one.reason for one in found.set_aside} == {"its gzip data ends too early"}
    assert (len(found.set_aside), len(found.files)) == (20, 180)
    assert len(reader.asked) < 60


def test_a_file_that_only_the_engine_finds_bad_gets_a_second_chance_alone() -> None:
    files, chosen = landed(4)
    failures = iter([True])

    def fails_once(path: str) -> bool:
        return path.endswith("002.csv") and next(failures, False)

    found = opened(
        Scripted(fails=fails_once, names_culprits=True), files, chosen, infer_types=False
    )
    assert (len(found.files), found.set_aside) == (4, ())


def test_a_zone_may_want_a_run_to_fail_instead() -> None:
    files, chosen = landed(3)
    before = list(files.list())
    reader = Scripted(fails=lambda path: path.endswith("001.csv"))
    with pytest.raises(
        BadFiles, match=r"1 file cannot be read: shop/landing/orders/001.csv: it makes no sense"
    ) as refused:
        opened(reader, files, chosen, on_bad_file="fail")
    assert "no file was moved" in str(refused.value)
    assert list(files.list()) == before


def test_a_bad_file_that_was_replaced_meanwhile_is_left_where_it_is() -> None:
    files, chosen = landed(2)
    files.write(chosen[1].path, b"id,name\n2,b\n")
    found = opened(Scripted(fails=lambda path: path.endswith("001.csv")), files, chosen)
    assert [(one.path, one.moved_to) for one in found.set_aside] == [(chosen[1].path, "")]
    assert "waits for the next run" in found.set_aside[0].reason
    assert files.read(chosen[1].path) == b"id,name\n2,b\n"


def test_without_a_good_file_there_are_the_expected_columns_or_nothing() -> None:
    files, _ = landed(0)
    assert opened(Scripted(), files, []).frame is None
    empty = opened(Scripted(), files, [], expected_schema={"id": "bigint", "a b": "date"}).frame
    assert empty == [Field("id", "bigint"), Field("a b", "date")]


def test_a_file_that_is_gone_before_it_is_read_stops_the_run() -> None:
    files, chosen = landed(2)
    files.delete(chosen[0].path)
    with pytest.raises(BadFiles, match="disappeared"):
        opened(Scripted(), files, chosen)


def test_several_formats_are_refused_if_the_zone_says_so() -> None:
    files, chosen = landed(1)
    chosen.append(files.write(f"{ZONE.folder}/a.json", b'{"id":1}\n'))
    with pytest.raises(BadFiles, match=r"several formats: csv \(.*000.csv\), json \(.*a.json\)"):
        opened(Scripted(), files, chosen, mixed_formats="refuse")


def alike(format: Any, files: str = "a", **types: str) -> ReadGroup:
    infos = tuple(FileInfo(name, 1, "1", FILE_TIME) for name in files)
    return ReadGroup(
        format,
        (),
        infos,
        tuple(types),
        (),
        {name: parse_type(text) for name, text in types.items()},
    )


FILE_TIME = MemoryFiles().write("x", b"").modified


def texts(types: Mapping[str, object]) -> dict[str, str]:
    return {name: str(type_) for name, type_ in types.items()}


def test_columns_of_all_groups_are_joined_by_name_without_regard_to_case() -> None:
    groups = [
        alike("json", "j", name="string", ID="bigint"),
        alike("csv", "a", id="int", day="date"),
        alike("csv", "b", day="timestamp"),
    ]
    assert texts(target_types(groups, ZoneSpec())) == {
        "id": "bigint",
        "day": "timestamp",
        "name": "string",
    }
    assert texts(target_types(groups, ZoneSpec(timestamp_format="yyyy")))["day"] == "string"


def test_a_column_without_values_has_no_say() -> None:
    groups = [alike("csv", "a", v="string"), alike("csv", "b", v="int")]
    assert texts(target_types(groups, ZoneSpec())) == {"v": "string"}
    assert texts(target_types(groups, ZoneSpec(), empty={("a", "v")})) == {"v": "int"}
    assert texts(target_types(groups, ZoneSpec(), empty={("a", "v"), ("b", "v")})) == {
        "v": "string"
    }


def test_nested_columns_of_parquet_files_that_do_not_go_together_are_refused() -> None:
    groups = [alike("parquet", "a", n="struct<x:int>"), alike("json", "b", n="string")]
    with pytest.raises(BadFiles, match="the column n is struct<`x`:int> in a"):
        target_types(groups, ZoneSpec())
    assert texts(
        target_types(
            [alike("json", "a", n="struct<x:int>"), alike("csv", "b", n="string")], ZoneSpec()
        )
    ) == {"n": "string"}


def test_text_is_read_into_the_targets_types_and_parquet_as_it_is() -> None:
    target = {
        name: parse_type(text)
        for name, text in {"id": "bigint", "n": "struct<x:int,y:int>", "more": "string"}.items()
    }
    parquet = alike("parquet", n="struct<x:int>", ID="timestamp(9)")
    assert columns_to_read(parquet, target) == (
        Field("n", "struct<`x`:int,`y`:int>"),
        Field("ID", "timestamp(9)"),
    )
    assert columns_to_read(alike("csv", more="int", Id="int"), target) == (
        Field("more", "string"),
        Field("Id", "bigint"),
    )
    assert columns_to_read(alike("json", ID="int"), target)[0] == Field("ID", "bigint")


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (alike("csv", id="bigint", day="date"), ""),
        (alike("csv", DAY="date", Id="bigint"), ""),
        (alike("csv", id="bigint"), "it lacks the column day"),
        (
            alike("csv", x="string", y="string"),
            "it lacks the columns id, day, and it has the unexpected columns x, y",
        ),
        (alike("json", id="bigint"), ""),
        (alike("json", id="bigint", z="int"), "it has the unexpected column z"),
        (alike("parquet", id="int", day="date"), ""),
        (
            alike("parquet", id="double", day="date"),
            "its column id is double, and bigint is expected",
        ),
    ],
)
def test_columns_that_are_not_the_expected_ones_are_drift(member: ReadGroup, said: str) -> None:
    assert (
        schema_difference(member, ZoneSpec(expected_schema={"id": "bigint", "day": "date"})) == said
    )


def test_a_csv_file_cannot_hold_a_nested_column() -> None:
    assert "a CSV file cannot hold" in schema_difference(
        alike("csv", n="string"), ZoneSpec(expected_schema={"n": "array<int>"})
    )


def test_a_file_without_a_byte_has_no_rows_and_is_processed_or_is_bad_as_the_zone_says() -> None:
    files, chosen = landed(1)
    empty = files.write(f"{ZONE.folder}/quiet.csv", b"")
    taken = open_zone(
        Scripted(), files, ZONE, [*chosen, empty], ZoneSpec(), address=str, run_id="r"
    )
    assert (taken.frame, taken.rows_by_file) == (
        [chosen[0].path],
        {chosen[0].path: 1, empty.path: 0},
    )
    assert (taken.files, taken.set_aside) == ((*chosen, empty), ())
    alone = open_zone(Scripted(), files, ZONE, [empty], ZoneSpec(), address=str, run_id="r")
    assert (alone.frame, alone.files) == (None, (empty,))
    refused = open_zone(
        Scripted(),
        files,
        ZONE,
        [*chosen, empty],
        ZoneSpec(empty_file="bad"),
        address=str,
        run_id="r",
    )
    assert (refused.files, [aside.reason for aside in refused.set_aside]) == (
        tuple(chosen),
        ["it has 0 bytes"],
    )
