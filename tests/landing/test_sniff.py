"""A small look into files."""

from collections.abc import Mapping
from typing import Any

import pyarrow
import pytest

from lakebed.landing import ZoneSpec
from lakebed.landing.checking.read_groups import group_files
from lakebed.landing.formats.sniff import sniff, sniff_all
from lakebed.landing.formats.sniffed import BadFile, SniffedFile
from lakebed.landing.formats.verify import find_damage
from lakebed.testing import MemoryFiles
from tests.support.lakes.landing_zones import cut, parquet, zipped

BIG = "id,name\n" + "".join(f"{number},name {number * 7919 % 100003}\n" for number in range(20_000))


def look(name: str, data: bytes | str, **settings: Any) -> SniffedFile | BadFile:
    files = MemoryFiles()
    file = files.write(
        f"shop/landing/orders/{name}", data.encode() if isinstance(data, str) else data
    )
    return sniff(files, file, ZoneSpec.model_validate(settings))


def options(seen: SniffedFile | BadFile) -> Mapping[str, str]:
    assert isinstance(seen, SniffedFile), seen
    return dict(seen.options)


@pytest.mark.parametrize(
    ("name", "data", "settings", "columns"),
    [
        ("a.csv", "id,name\n1,a\n", {}, ("id", "name")),
        ("a.csv", "id,name", {}, ("id", "name")),
        ("a.csv", "\n \n\r\nid,name\r\n1,a\r\n", {}, ("id", "name")),
        ("a.csv", "id,name\r1,a\r", {}, ("id", "name")),
        ("a.csv", "id, name ,  land\n1,a,b\n", {}, ("id", "name", "land")),
        ("a.csv", "a; b\nc; d; e\n", {"header": False}, ("_c0",)),
        ("a.csv", b"\xef\xbb\xbfid,name\n", {}, ("id", "name")),
        ("a.csv", '"a ""b"", c",d\n', {}, ('a "b", c', "d")),
        ("a.csv", "'a\\'b';d\n", {"quote": "'", "escape": "\\", "delimiter": ";"}, ("a'b", "d")),
        ("a.csv", '"a\nb",c\n', {"multiline": True}, None),
        ("a.tsv", "id\tname\n", {}, ("id", "name")),
        ("A.CSV.GZ", zipped("id,name\n1,a\n"), {}, ("id", "name")),
        ("big.csv.gz", zipped(BIG), {}, ("id", "name")),
        ("data.gz", zipped("id,name\n1,a\n"), {"format": "csv"}, ("id", "name")),
        ("a.txt", "id,name\n", {"format": "csv"}, ("id", "name")),
        ("a.csv", "id,größe\n".encode("latin-1"), {"encoding": "latin-1"}, ("id", "größe")),
        ("a.csv", "id,größe\n".encode("utf-16"), {"encoding": "utf-16"}, ("id", "größe")),
        ("a.csv", "1,a\n2,b\n", {"header": False}, ("_c0", "_c1")),
        (
            "a.csv",
            "1,a\n",
            {"header": False, "expected_schema": {"id": "int", "v": "string"}},
            ("id", "v"),
        ),
        (
            "a.csv",
            ",".join(f"column_{place}" for place in range(20_000)) + "\n",
            {},
            tuple(f"column_{p}" for p in range(20_000)),
        ),
    ],
)
def test_the_header_of_a_csv_file(
    name: str, data: bytes | str, settings: dict[str, Any], columns: tuple[str, ...] | None
) -> None:
    seen = look(name, data, **settings)
    if columns is None:
        assert isinstance(seen, BadFile)
        assert "control characters" in seen.reason
    else:
        assert isinstance(seen, SniffedFile), seen
        assert seen.columns == columns


@pytest.mark.parametrize(
    ("name", "data", "settings", "reason"),
    [
        ("a.csv", "id,,name\n", {}, "column 2 of its header has no name"),
        ("a.csv", "id,Id\n", {}, "the column id twice (also as Id)"),
        ("a.csv", "id,id\n", {}, "the column id twice"),
        ("a.csv", "id;name\n", {}, "seems to be ';'"),
        ("a.csv", "id,name\n", {"delimiter": ";"}, "seems to be ','"),
        ("a.csv", '"id,name\n1,a\n', {}, "not CSV"),
        ("a.csv", " \n\n", {}, "only blank lines"),
        ("a.csv", "x" * 1_500_000, {}, "does not end within 1 MiB"),
        ("a.csv", "id,größe\n".encode("latin-1"), {}, "not utf-8: byte 0xf6"),
        ("a.csv", "id,größe\n".encode("utf-16"), {}, "not utf-8: byte 0xff"),
        ("a.csv", "id,größe\n".encode("utf-16-le"), {}, "not utf-8: byte 0xf6"),
        ("a.csv", "id,name\n1,a\n".encode("utf-16-le"), {}, "NUL characters"),
        ("a.csv", "id,name\n1,a\n" + "\0" * 4096, {}, "NUL characters"),
        ("a.csv", zipped("id\n1\n"), {}, "its name must end in .gz"),
        ("a.csv.gz", "id\n1\n", {}, "gzip data is damaged"),
        ("a.csv.gz", b"", {}, "it has 0 bytes"),
        ("a.csv.gz", zipped("id,name\n1,a\n")[:15], {}, "ends too early"),
        ("a.csv", 'id,name\n1,a\n2,"b cut of', {}, "ends inside quotes"),
        (
            "a.csv",
            "1,2,3\n",
            {"header": False, "expected_schema": {"id": "int"}},
            "has 3 fields, and expected_schema 1",
        ),
        ("a.csv.bz2", b"BZh9", {}, "only .gz is read"),
        ("a.xlsx", b"PK", {}, "it is an Excel workbook: save its sheets as CSV"),
        ("a.csv", b"PK\x03\x04", {}, "it is an Excel workbook or a zip archive"),
        ("a.avro", b"Obj", {}, "it is an Avro file: convert it to Parquet"),
        ("a.csv", "<!DOCTYPE html>\n<html>", {}, "it is a web page or XML, not CSV"),
        ("a.csv", "id,größe\n".encode("latin-1"), {}, "set encoding: latin-1 in zone.yaml"),
        ("a.csv", "id,10€\n".encode("cp1252"), {}, "as cp1252 it reads 'id,10€'"),
        ("a.csv", "id,größe\n".encode("utf-16"), {}, "it seems to be utf-16"),
        ("a.csv", "id,a\n1,b\n".encode("utf-16-le"), {}, "set encoding: utf-16-le"),
        ("a.csv", "id,größe\n", {"encoding": "latin-1"}, "it is utf-8, and would be read as iso"),
        ("a.json", '{"v":"ü"}'.encode("latin-1"), {}, "since JSON is UTF-8 by its standard"),
        ("a.csv", "id\tname\n1\ta\n", {}, "seems to be a tab, not ',': set delimiter: tab in zone"),
        ("a.csv", "id\tname\n1\ta\n", {}, "or name it .tsv"),
        ("a.csv", "1;2\n3;4\n", {"header": False}, "its delimiter seems to be ';'"),
        ("a.csv", "id, ID\n", {}, "the column id twice (also as ID)"),
        ("a.csv", 'id, "name"\n', {}, "a blank stands before the quotes of column 2"),
        ("noextension", b"x", {}, "no known format"),
        ("zone.yml", b"format: csv", {}, "settings belong in zone.yaml"),
        ("a.parquet.gz", b"x", {}, "compressed inside"),
        ("a.json", "5\n", {}, "does not begin like JSON"),
        ("a.json", "id,name\n", {}, "does not begin like JSON"),
        ("a.json", "\n\n", {}, "no JSON record"),
        ("a.json", '{"v":"ü"}'.encode("latin-1"), {}, "not utf-8"),
        ("a.parquet", b"PAR1", {}, "not a complete Parquet file"),
        ("a.parquet", cut(parquet({"id": [1, 2]}), 0.9), {}, "not a complete Parquet file"),
        (
            "a.parquet",
            parquet({"id": [1], "ID": [2]}),
            {},
            "two columns that are the same to Spark: id and ID",
        ),
        (
            "a.parquet",
            parquet(
                {"s": pyarrow.array([{"t": 1}], pyarrow.struct({"t": pyarrow.timestamp("ns")}))}
            ),
            {},
            "nested",
        ),
    ],
)
def test_a_file_that_cannot_be_what_it_says_is_bad(
    name: str, data: bytes | str, settings: dict[str, Any], reason: str
) -> None:
    seen = look(name, data, **settings)
    assert isinstance(seen, BadFile), seen
    assert reason in seen.reason


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ('{"id":1}\n{"id":2}\n', False),
        ('{"id":1}', False),
        ('\n\n  {"id":1}\n', False),
        ('[{"id":1},{"id":2}]', False),
        ('[{"id":1}]\n[{"id":2}]\n', False),
        ('[\n{"id":1},\n{"id":2}\n]\n', True),
        ('[\n{"id":1}\n]\n', True),
        ('{\n  "id": 1\n}\n', True),
        ('{"id": 1,\n"n": {"x": 2}}\n', True),
        ('{"id": \n{"id":2}\n', False),  # a broken line before a whole one
        ('{"id": 1, "na', False),
        ('{"a":' * 100_000, False),
        ('{"text":"' + "x" * 100_000 + '"}\n', False),
    ],
)
def test_json_is_a_record_a_line_or_one_value_over_several(text: str, spans: bool) -> None:
    assert options(look("a.json", text))["multiLine"] == str(spans).lower()


def test_a_csv_file_of_one_column_may_always_hold_line_breaks() -> None:
    assert options(look("a.csv", 'v\n"a\nb"\n'))["multiLine"] == "true"
    assert options(look("a.csv", "id,v\n1,a\n"))["multiLine"] == "false"


def test_a_stray_quote_at_the_end_is_not_an_open_one() -> None:
    assert isinstance(look("a.csv", 'id,v\n1,5" pipe'), SniffedFile)


def test_a_parquet_file_tells_its_columns_its_rows_and_its_nanoseconds() -> None:
    times = pyarrow.array([1, 2], pyarrow.timestamp("ns"))
    seen = look(
        "a.parquet",
        parquet({"id": [1, 2], "at": times, "utc": times.cast(pyarrow.timestamp("ns", "UTC"))}),
    )
    assert isinstance(seen, SniffedFile)
    assert (seen.columns, seen.rows) == (("id", "at", "utc"), 2)
    assert seen.nanos == (("at", "timestamp_ntz(9)"), ("utc", "timestamp(9)"))


def test_a_look_reads_the_ends_of_a_file_and_not_the_whole() -> None:
    class Counting(MemoryFiles):
        read_bytes = 0

        def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
            data = super().read(path, start=start, length=length)
            self.read_bytes += len(data)
            return data

    files = Counting()
    rows = range(200_000)
    for name, data in (
        ("a.csv", BIG * 20),
        ("a.json", '{"id": 1}\n' * 500_000),
        ("a.parquet", parquet({"id": [*rows]})),
    ):
        file = files.write(
            f"shop/landing/orders/{name}", data.encode() if isinstance(data, str) else data
        )
        files.read_bytes = 0
        assert isinstance(sniff(files, file, ZoneSpec()), SniffedFile)
        assert 0 < files.read_bytes <= 256 * 1024 < file.size


def test_files_with_other_headers_orders_or_formats_are_read_apart() -> None:
    files = MemoryFiles()
    landed: dict[str, bytes | str] = {
        "a.csv": "id,name\n1,a\n",
        "b.csv": "id,name\n2,b\n",
        "c.csv.gz": zipped("id,name\n3,c\n"),
        "d.csv": "name,id\nd,4\n",
        "e.csv": "id,name,more\n5,e,x\n",
        "f.json": '{"id":6}\n',
        "g.json": '[\n{"id":7}\n]',
        "h.parquet": parquet({"id": [8]}),
        "i.parquet": parquet({"id": [9.5]}),
        "j.parquet": parquet({"id": [10]}),
    }
    infos = [
        files.write(name, data.encode() if isinstance(data, str) else data)
        for name, data in landed.items()
    ]
    seen = [one for one in sniff_all(files, infos, ZoneSpec()) if isinstance(one, SniffedFile)]
    assert [[file.path[0] for file in member.files] for member in group_files(seen)] == [
        ["a", "b", "c"], ["d"], ["e"], ["f"], ["g"], ["h", "j"], ["i"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data", "settings", "said"),
    [
        ("a.csv", BIG, {}, ""),
        ("a.csv", BIG.encode() + b"1,\xfc\n", {}, "line 20002 is not utf-8: byte 0xfc"),
        ("a.csv", BIG + "1,a\0b\n", {}, "line 20002 holds NUL"),
        ("a.csv", 'id,v\n1,"a\nb"\n', {}, "the quotes of line 2 are not closed"),
        ("a.csv", 'id,v\n1,"a\nb"\n', {"multiline": True}, ""),
        (
            "a.csv",
            'id,v\n1,"a\nb\n2,c\n',
            {"multiline": True},
            "the quotes opened in line 2 are not closed",
        ),
        ("a.csv", 'id,v\n1,"a ""b"" c"\n2,5" x\n3,"c"d\n', {}, ""),
        ("a.csv", "id,v\n1,'a \\' b'\n", {"quote": "'", "escape": "\\"}, ""),
        (
            "a.csv",
            "id,v\n1,'a \\'\n",
            {"quote": "'", "escape": "\\"},
            "the quotes of line 2 are not closed",
        ),
        ("a.csv", "id,v\n1,ü\n".encode("utf-16"), {"encoding": "utf-16"}, ""),
        ("a.csv", "id,v\n1,ü\n".encode("utf-16")[:-1], {"encoding": "utf-16"}, "not utf-16"),
        ("a.csv.gz", zipped(BIG), {}, ""),
        ("a.csv.gz", cut(zipped(BIG)), {}, "ends too early"),
        ("a.json", '{"v":"ü"}\n'.encode() * 9 + b'{"v":"\xfc"}\n', {}, "line 10 is not utf-8"),
        ("a.parquet", parquet({"id": [1]}), {}, ""),
    ],
)
def test_a_close_look_finds_what_is_wrong_with_the_bytes(
    name: str, data: bytes | str, settings: dict[str, Any], said: str
) -> None:
    files, spec = MemoryFiles(), ZoneSpec.model_validate(settings)
    file = files.write(name, data.encode() if isinstance(data, str) else data)
    found = find_damage(files, file, spec, multiline=spec.multiline)
    assert found.startswith(said) if said.startswith(("line", "the")) else said in found
    assert bool(found) is bool(said)


@pytest.mark.parametrize(
    ("text", "settings", "names", "lost"),
    [
        ("1,alice\n2,bob\n", {}, (), True),
        ("2026-01-01;x\n2026-01-02;y\n", {"delimiter": ";"}, (), True),
        ("7,1.5\n8,2\n9,\n", {}, (), True),
        ("1,alice\n2,bob\n", {"header": True}, (), False),
        ("1,alice\n2,bob\n", {"header": False}, (), False),
        ("1,alice\n2,bob\n", {}, ("1", "Alice", "more"), False),
        ("1,alice\n2,bob\n", {}, ("1",), True),
        ("id,name\n1,a\n2,b\n", {}, (), False),
        ("id,1\n1,a\n2,b\n", {}, (), False),
        ("name,city\na,b\nc,d\n", {}, (), False),
        ("alice,bob\n", {}, (), False),
        ("country,2019,2020,2021\nDE,1,2,3\nFR,4,5,6\n", {}, (), False),
        ("country,2021,2019\nDE,1,2\n", {}, (), True),
        ("2019\n2020\n2021\n", {}, (), True),
        ("NA,x\n1,y\nNA,z\n", {"nulls": ["NA"]}, (), True),
        ("007,x\n008,y\n", {}, (), False),
    ],
)
def test_a_file_without_a_header_does_not_lose_its_first_row_to_the_names_of_columns(
    text: str, settings: dict[str, Any], names: tuple[str, ...], lost: bool
) -> None:
    files = MemoryFiles()
    file = files.write("shop/landing/z/a.csv", text.encode())
    (found,) = sniff_all(files, [file], ZoneSpec.model_validate(settings), known_names=names)
    assert isinstance(found, BadFile) == lost
    if isinstance(found, BadFile):
        assert "its first line looks like a row" in found.reason
        assert "set header: false in zone.yaml" in found.reason


def test_a_zone_that_has_had_blanks_around_its_names_keeps_them() -> None:
    files = MemoryFiles()
    file = files.write("shop/landing/orders/a.csv", b"id, name\n1,a\n")
    seen = sniff(files, file, ZoneSpec(), known_names={"id", " name"})
    assert isinstance(seen, SniffedFile)
    assert seen.columns == ("id", " name")
