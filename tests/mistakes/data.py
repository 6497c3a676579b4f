"""Mistakes in landing files: encodings, separators, headers, cut files, wrong suffixes, odd names."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.landing import ZoneSpec, data_files
from lakebed.landing.formats.sniff import sniff
from lakebed.landing.formats.sniffed import BadFile
from lakebed.names import ZoneName
from lakebed.ports import odd_path
from lakebed.testing import MemoryFiles
from tests.support.lakes.landing_zones import Zone, cut, folder_zone, parquet, zipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = "id,name\n1,Müller\n2,b\n"
_LONG = "id,name\n" + "".join(f"{number},plain text\n" for number in range(6000))


@dataclass(frozen=True)
class Delivery:
    """A file under a name, in a zone with these settings."""

    title: str
    name: str
    data: bytes | str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def bytes(self) -> bytes:
        return self.data.encode() if isinstance(self.data, str) else self.data

    @property
    def spec(self) -> ZoneSpec:
        return ZoneSpec.model_validate({"settle_seconds": 0, **self.settings})


DELIVERIES = (
    # encodings
    Delivery("latin-1", "a.csv", ROWS.encode("latin-1")),
    Delivery("windows-1252", "a.csv", "id,price\n1,5 €\n".encode("cp1252")),
    Delivery("latin-1 far below", "a.csv", f"{_LONG}7000,Müller\n".encode("latin-1")),
    Delivery("utf-16 with a mark", "a.csv", ROWS.encode("utf-16")),
    Delivery("utf-16 without a mark", "a.csv", ROWS.encode("utf-16-le")),
    Delivery("utf-8 with a mark", "a.csv", b"\xef\xbb\xbf" + ROWS.encode()),
    Delivery("utf-8 in a zone of latin-1", "a.csv", ROWS, {"encoding": "latin-1"}),
    Delivery("JSON in latin-1", "a.json", '{"name": "Müller"}\n'.encode("latin-1")),
    Delivery("NUL at the end", "a.csv", f"{ROWS}{chr(0) * 512}"),
    # separators
    Delivery("semicolons", "a.csv", "id;name\n1;a\n"),
    Delivery("tabs", "a.csv", "id\tname\n1\ta\n"),
    Delivery("bars", "a.csv", "id|name\n1|a\n"),
    Delivery("commas in .tsv", "a.tsv", "id,name\n1,a\n"),
    Delivery("semicolons without a header", "a.csv", "1;a\n2;b\n", {"header": False}),
    Delivery("semicolons below a header with commas", "a.csv", "id,name\n1;a\n2;b\n"),
    Delivery("a comma at the end of each row", "a.csv", "id,name\n1,a,\n2,b,\n"),
    Delivery("a comma at the end of the header", "a.csv", "id,name,\n1,a,\n"),
    Delivery("decimal commas", "a.csv", "id,price\n1,2,50\n2,3,75\n"),
    Delivery("Excel's sep= line", "a.csv", "sep=;\nid;name\n1;a\n"),
    # headers
    Delivery("no header", "a.csv", "1,2.5\n2,3.5\n3,4.5\n"),
    Delivery("one name twice", "a.csv", "id,name,id\n1,a,2\n"),
    Delivery("names that differ in case", "a.csv", "id,ID\n1,2\n"),
    Delivery("a name is missing", "a.csv", "id,,name\n1,2,a\n"),
    Delivery("blanks around names", "a.csv", "id, name , land\n1,a,b\n"),
    Delivery("blanks before quotes", "a.csv", 'id, "name"\n1, "a"\n'),
    Delivery("a title above the header", "a.csv", "Orders of May\nid,name\n1,a\n"),
    Delivery("a comment above the header", "a.csv", "# by the shop\nid,name\n1,a\n"),
    Delivery("the header again below", "a.csv", "id,name\n1,a\nid,name\n2,b\n"),
    Delivery("a total below", "a.csv", "id,amount\n1,10\n2,20\nTotal,30\n"),
    Delivery("only a header", "a.csv", "id,name\n"),
    Delivery("blank lines between", "a.csv", "id,name\n\n1,a\n\n2,b\n"),
    Delivery("only blank lines", "a.csv", "\n \n\n"),
    Delivery("nothing", "a.csv", ""),
    # cut files
    Delivery("cut in a row", "a.csv", "id,name,land\n1,a,DE\n2,b"),
    Delivery("cut in quotes", "a.csv", 'id,name\n1,"a"\n2,"b'),
    Delivery("cut gzip data", "a.csv.gz", cut(zipped(_LONG))),
    Delivery("cut JSON lines", "a.json", '{"id": 1}\n{"id": 2, "na'),
    Delivery("a cut JSON array", "a.json", '[\n{"id": 1},\n{"id": 2'),
    Delivery("a cut Parquet file", "a.parquet", cut(parquet({"id": [1, 2]}))),
    # quotes and values
    Delivery("a line break in quotes", "a.csv", 'id,name\n1,"a\nb"\n2,c\n'),
    Delivery("a quote inside a field", "a.csv", 'id,size\n1,5"\n2,7\n'),
    Delivery("quotes that stay open", "a.csv", 'id,name\n1,"a\n2,b\n3,c\n'),
    Delivery("NA among numbers", "a.csv", "id,n\n1,5\n2,NA\n", {"types": {"n": "int"}}),
    Delivery("days and months swapped", "a.csv", "id,day\n1,31.01.2026\n"),
    Delivery("JSON with a comma at the end", "a.json", '{"id": 1,}\n'),
    Delivery("JSON in single quotes", "a.json", "{'id': 1}\n"),
    Delivery("JSON with a comment", "a.json", '// orders\n{"id": 1}\n'),
    Delivery("two JSON records in a line", "a.json", '{"id": 1}{"id": 2}\n'),
    Delivery("one JSON key twice", "a.json", '{"id": 1, "id": 2}\n'),
    Delivery("numbers and texts in JSON", "a.json", '{"id": 1}\n{"id": "x"}\n'),
    Delivery(
        "a text for a number in a long JSON line",
        "a.json",
        f'{{"id": 1}}\n{{"note": "{"n" * 600}", "id": "x"}}\n',
        {"types": {"id": "int"}},
    ),
    # wrong suffixes
    Delivery("JSON as .csv", "a.csv", '{"id": 1, "name": "a"}\n'),
    Delivery("CSV as .json", "a.json", ROWS),
    Delivery("CSV as .parquet", "a.parquet", ROWS),
    Delivery("Parquet as .csv", "a.csv", parquet({"id": [1]})),
    Delivery("gzip data without .gz", "a.csv", zipped(ROWS)),
    Delivery(".gz without gzip data", "a.csv.gz", ROWS),
    Delivery("a workbook", "a.xlsx", b"PK\x03\x04 ..."),
    Delivery("a workbook as .csv", "a.csv", b"PK\x03\x04 ..."),
    Delivery("an old workbook as .csv", "a.csv", b"\xd0\xcf\x11\xe0 ..."),
    Delivery("a web page as .csv", "a.csv", "<!DOCTYPE html>\n<html>Not found</html>\n"),
    Delivery("a zip archive", "a.zip", b"PK\x03\x04 ..."),
    Delivery("a text file", "a.txt", ROWS),
    Delivery("a text file that is CSV", "a.txt", ROWS, {"format": "csv"}),
    Delivery("no suffix", "orders", ROWS),
    Delivery("a number after the suffix", "orders.csv.1", ROWS),
    Delivery("settings under a wrong name", "zone.yml", "encoding: latin-1\n"),
    # odd names
    Delivery("a backslash in the name", "a\\b.csv", ROWS),
    Delivery("a tab in the name", "a\tb.csv", ROWS),
    Delivery("capitals in the suffix", "A.CSV", ROWS),
    Delivery("a part of a download", "a.csv.part", ROWS),
    Delivery("a hidden file", ".a.csv", ROWS),
    Delivery("a name with _ before it", "_a.csv", ROWS),
    Delivery("a lock of Office", "~$orders.xlsx", b"\x05 me"),
)
_ZONE = ZoneName("shop", "orders")


def at_first_sight(delivery: Delivery) -> str:
    """What is said of a file by its name, its first and its last bytes; empty if it looks good."""
    files, path = MemoryFiles(), f"{_ZONE.folder}/{delivery.name}"
    plain = files.write("shop/landing/orders/plain", delivery.bytes)
    file = plain if odd_path(path) else files.write(path, delivery.bytes)
    file = replace(file, path=path)
    if not data_files([file], _ZONE, spec=delivery.spec):
        return "not read"
    if not file.size:
        return "no rows"
    found = sniff(files, file, delivery.spec)
    return f"refused: {found.reason}" if isinstance(found, BadFile) else ""


def when_read(zone: Zone, delivery: Delivery) -> str:
    """What is said of a file once all rows are read: why it is refused, or its columns and rows."""
    zone.spec = delivery.spec
    zone.land(delivery.name, delivery.bytes)
    landed = zone.open()
    for file in landed.set_aside:
        return f"refused: {file.reason}"
    columns = ", ".join(f"{name} {type_}" for name, type_ in landed.frame.dtypes)
    return f"{sum(landed.rows_by_file.values())} rows of {columns}"


def table_of_looks() -> str:
    """All files and what is said of them at first sight, a line each."""
    lines = (f"{one.title} | {at_first_sight(one) or 'read'}" for one in DELIVERIES)
    return "\n".join(lines) + "\n"


def table_of_reads(session: "SparkSession", folder: Path) -> str:
    """The files that look good, and what is said of them once they are read."""
    good = [one for one in DELIVERIES if not at_first_sight(one)]
    lines = (
        f"{one.title} | {when_read(folder_zone(folder / str(number), session), one)}"
        for number, one in enumerate(good)
    )
    return "\n".join(lines) + "\n"
