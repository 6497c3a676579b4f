"""What columns are taken for when files bring values that do not fit, and what is said of those
files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pytest

from lakebed.errors import BadFiles
from lakebed.landing import RememberedTypes, ZoneRows, ZoneSpec, open_zone
from lakebed.landing.checking.faults import describe_fault
from lakebed.landing.checking.read_groups import ReadGroup
from lakebed.landing.checking.remembered_types import ColumnTypes, read_as
from lakebed.landing.checking.value_faults import advice, does_not_fit
from lakebed.landing.formats.sniff import sniff
from lakebed.landing.formats.sniffed import BadFile
from lakebed.landing.source_files import SourceSpec
from lakebed.names import ZoneName
from lakebed.ports import LONGEST_RECORD, Field, FileGroup, FileRows
from lakebed.testing import MemoryFiles
from lakebed.types import ColumnType, join_types, parse_type


def types(**texts: str) -> dict[str, ColumnType]:
    return {name: parse_type(text) for name, text in texts.items()}


def test_a_column_is_taken_for_more_only_where_the_table_follows_and_zone_yaml_says_nothing() -> (
    None
):
    known, shown = (
        types(a="int", b="int", c="int"),
        types(A="bigint", b="string", c="bigint", d="date"),
    )
    spec = ZoneSpec.model_validate({"types": {"C": "int"}})
    taken = ColumnTypes(
        RememberedTypes(known, may_widen=lambda before, after: after.name == "bigint"), spec
    )
    assert taken.widen(shown)
    assert taken.types == types(a="bigint", b="int", c="int")
    assert taken.widened == {"a"}
    assert not taken.widen(shown)
    taken.reset()
    assert taken.types == types(a="int", b="int", c="int")
    assert not ColumnTypes(RememberedTypes(known), spec).widen(shown)


def test_what_is_remembered_does_not_count_where_zone_yaml_says_how_to_read() -> None:
    remembered = RememberedTypes(types(a="int"))
    assert ColumnTypes(remembered, ZoneSpec(infer_types=False)).of("a") is None
    assert ColumnTypes(remembered, ZoneSpec(expected_schema={"a": "string"})).of("a") is None
    assert ColumnTypes(remembered, ZoneSpec(types={"A": "string"})).of("a") == parse_type("string")


def test_another_table_that_may_take_a_file_is_named() -> None:
    asked = RememberedTypes(
        types(a="int", b="int"),
        other_reader=lambda name, _, wider: f"for {name} {wider}" if name == "b" else "",
    )
    taken = ColumnTypes(asked, ZoneSpec())
    assert taken.other_reader(types(a="bigint")) == ""
    assert taken.other_reader(types(a="bigint", b="string")) == "for b string"


@pytest.mark.parametrize(
    ("known", "shown", "read"),
    [
        (None, "int", "int"),
        ("string", "int", "string"),
        ("string", "struct<a:int>", "string"),
        ("struct<a:int,b:int>", "struct<a:bigint,c:date>", "struct<a:int,b:int,c:date>"),
        ("array<struct<a:int>>", "array<struct<a:string,b:int>>", "array<struct<a:int,b:int>>"),
        ("struct<a:int>", "string", "struct<a:int>"),
    ],
)
def test_records_are_read_as_before_and_new_fields_inside_them_are_not_dropped(
    known: str | None, shown: str, read: str
) -> None:
    assert read_as(parse_type(known) if known else None, parse_type(shown)) == parse_type(read)


@pytest.mark.parametrize(
    ("value", "type_", "unfit"),
    [
        ("7", "int", False), ("-2147483648", "int", False), ("2147483648", "int", True), (" 7", "int", True),
        ("7.0", "bigint", True),
        ("", "int", False), ("NA", "int", False), ("N/A", "int", True), ("x", "string", False), ("1e5", "double", False),
        ("NaN", "double", False), ("1_0", "double", True), ("1,5", "decimal(5,2)", True), ("1.5", "decimal(5,2)", False),
        ("TRUE", "boolean", False), ("yes", "boolean", True), ("2026-01-31", "date", False), ("31.1.2026", "date", True),
        ("soon", "timestamp", True), ("2026-01-31T10", "timestamp", False), (None, "int", False), (True, "int", True),
        (1, "boolean", True), (1.5, "bigint", True), (3000000000, "int", True), (3, "double", False), ({"a": 1}, "int", True),
        ({"a": 1}, "struct<a:int>", False), ("a", "struct<a:int>", False),
    ],
)  # fmt: skip
def test_values_that_are_surely_not_of_a_type_are_found(
    value: object, type_: str, unfit: bool
) -> None:
    assert does_not_fit(value, type_, ZoneSpec(nulls=("NA",))) == unfit
    assert does_not_fit("7", "int", ZoneSpec(), json=True)


def test_the_setting_that_would_make_a_value_fit_is_named() -> None:
    column = Field("dep", "int")
    assert advice(column, "3000000000", ZoneSpec()).endswith(
        "set types: {dep: bigint} in zone.yaml"
    )
    assert advice(column, "1.5", ZoneSpec()).endswith("set types: {dep: double} in zone.yaml")
    assert advice(column, "x", ZoneSpec()).endswith("set types: {dep: string} in zone.yaml")
    assert advice(column, "NA", ZoneSpec()).startswith(
        'if it means NULL, set nulls: ["NA", ""] in zone.yaml'
    )
    assert (
        advice(column, "x", ZoneSpec(expected_schema={"dep": "int"}))
        == "expected_schema in zone.yaml says so"
    )


@dataclass
class Values:
    """Reads CSV files of one column, as Spark would, from a script: path → its value."""

    values: Mapping[str, str]
    asked: list[str] = field(default_factory=list)

    def infer(self, group: FileGroup) -> tuple[Field, ...]:
        self.asked.append("infer")
        shown = [_shown(self.values[path]) for path in group.paths]
        return (Field("n", str(reduce(join_types, map(parse_type, shown)))),)

    def check(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...]:
        self.asked.append("check")
        found = [
            (path, does_not_fit(self.values[path], group.columns[0].type, ZoneSpec()))
            for group in groups
            for path in group.paths
        ]
        return tuple(FileRows(path, 1, corrupt=int(unfit), filled=(1,)) for path, unfit in found)

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        return {path: self.values[path] for group in groups for path in group.paths}

    def two_spellings(self, groups: Sequence[FileGroup], column: str) -> tuple[str, str] | None:
        return None

    def read(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> Any:
        return fields[0].type

    @property
    def observes(self) -> bool:
        return False

    def read_observed(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> Any:
        raise NotImplementedError


def _shown(value: str) -> str:
    return (
        "int"
        if not does_not_fit(value, "int", ZoneSpec())
        else "bigint"
        if not does_not_fit(value, "bigint", ZoneSpec())
        else "string"
    )


def opened(values: Mapping[str, str], remembered: RememberedTypes) -> tuple[ZoneRows, Values]:
    files, zone = MemoryFiles(), ZoneName("shop", "z")
    chosen = [
        files.write(f"{zone.folder}/{name}.csv", f"n\n{value}\n".encode())
        for name, value in values.items()
    ]
    reader = Values({f"{zone.folder}/{name}.csv": value for name, value in values.items()})
    return (
        open_zone(
            reader, files, zone, chosen, ZoneSpec(), address=str, run_id="r", remembered=remembered
        ),
        reader,
    )


BIG = str(2**40)


def test_files_that_fit_what_is_remembered_are_looked_at_once() -> None:
    landed, reader = opened({"a": "1", "b": "2"}, RememberedTypes(types(n="bigint")))
    assert (landed.frame, landed.set_aside, reader.asked) == ("bigint", (), ["check"])


def test_a_file_that_does_not_fit_is_bad_and_the_others_are_read_as_ever() -> None:
    landed, _ = opened({"a": "1", "b": BIG, "c": "x"}, RememberedTypes(types(n="int")))
    assert (landed.frame, [one.path[-5:] for one in landed.set_aside]) == (
        "int",
        ["b.csv", "c.csv"],
    )
    assert landed.checked
    assert (landed.checked.learned, landed.checked.widened) == (types(n="int"), frozenset())
    said = f"1 of 1 rows does not fit: '{BIG}' (line 2) has '{BIG}' in the column n, which is int"
    assert (
        landed.set_aside[0].reason
        == f"{said}; to read the column otherwise, set types: {{n: bigint}} in zone.yaml"
    )


def test_where_a_table_follows_a_column_becomes_as_wide_as_its_good_files_need_and_no_wider() -> (
    None
):
    follows = RememberedTypes(types(n="int"), may_widen=lambda _, after: after.name == "bigint")
    landed, _ = opened({"a": "1", "b": BIG, "c": "x", "d": "2"}, follows)
    assert (landed.frame, [one.path[-5:] for one in landed.set_aside]) == ("bigint", ["c.csv"])
    assert landed.checked
    assert (landed.checked.learned, landed.checked.widened) == (types(n="bigint"), frozenset({"n"}))
    kept, _ = opened({"a": "1", "c": "x"}, follows)
    assert (kept.frame, len(kept.set_aside)) == ("int", 1)
    anything, _ = opened(
        {"a": "1", "c": "x"}, RememberedTypes(types(n="int"), may_widen=lambda *_: True)
    )
    assert (anything.frame, anything.set_aside) == ("string", ())


def test_a_file_that_another_table_may_take_stays_where_it_is_and_the_run_fails() -> None:
    wanted = RememberedTypes(
        types(n="int"),
        other_reader=lambda _, before, after: "shop.bronze.b" if after.name == "bigint" else "",
    )
    with pytest.raises(
        BadFiles,
        match=(
            r"shop.bronze.b, which also reads the zone, may accept them: shop/landing/z/b.csv: 1"
            r" of 1"
        ),
    ):
        opened({"a": "1", "b": BIG}, wanted)
    landed, _ = opened({"a": "1", "c": "x"}, wanted)
    assert [one.path[-5:] for one in landed.set_aside] == ["c.csv"]


def test_a_json_record_of_which_only_the_beginning_is_known_is_not_called_broken() -> None:
    member = ReadGroup("json", (), (), ())
    record = '{"id": "x", "note": "' + "n" * 2 * LONGEST_RECORD
    found = FileRows("a.json", 1, corrupt=1)
    said = describe_fault(
        member, [Field("id", "int")], found, record[:LONGEST_RECORD], spec=ZoneSpec()
    )
    assert "too long to say which of its values does not fit" in said
    short = describe_fault(member, [Field("id", "int")], found, record[:400], spec=ZoneSpec())
    assert "is not JSON" in short


def test_advice_about_a_source_names_settings_that_a_source_has() -> None:
    source = SourceSpec()
    assert source.how_to_set("header", "false") == "set header: false in config.yaml"
    assert source.how_to_set("encoding", "latin-1") == (
        "a landing zone can read it, with encoding: latin-1 in its zone.yaml"
    )
    files = MemoryFiles()
    file = files.write("in/a.csv", "id\n1,Müller\n".encode("latin-1"))
    found = sniff(files, file, source)
    assert isinstance(found, BadFile)
    assert "set encoding" not in found.reason
