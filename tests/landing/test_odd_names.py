"""Files whose names no store takes: they are set aside, and the others are read."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakebed.engines.files import open_files
from lakebed.landing import ZoneSpec
from lakebed.landing.archive import quarantine_files
from lakebed.landing.formats.sniff import sniff_all
from lakebed.landing.formats.sniffed import BadFile, SniffedFile
from lakebed.landing.freeze import list_zone
from lakebed.landing.zone_files import FileStates, ZoneReader
from lakebed.names import TableName, ZoneName
from lakebed.ports import Files
from lakebed.settings import FilesSettings, Root

ZONE = ZoneName("shop", "orders")
AT = datetime(2026, 1, 1, tzinfo=UTC)
ODD = [b"a\\b.csv", b"a\tb.csv", b"a\nb.csv", b"caf\xe9.csv"]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A zone with a good file and odd ones, as another program may have named them."""
    folder = tmp_path / ZONE.folder
    folder.mkdir(parents=True)
    for name in (b"good.csv", *ODD):
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_text("id\n1\n")
    return open_files(Root.parse(tmp_path), FilesSettings())


def test_an_odd_name_makes_one_file_bad_and_the_zone_is_read(files: Files) -> None:
    listed = list_zone(files, ZONE)
    seen = sniff_all(files, listed, ZoneSpec())
    good = [one.file.path for one in seen if isinstance(one, SniffedFile)]
    bad = [one for one in seen if isinstance(one, BadFile)]
    assert (good, len(bad)) == ([f"{ZONE.folder}/good.csv"], len(ODD))

    aside = quarantine_files(files, bad, ZONE, run_id="r1", at=AT)
    assert {file.path for file in aside} == {one.file.path for one in bad}
    assert all(file.reason.endswith("; rename it") for file in aside)
    assert list_zone(files, ZONE) == listed, "a file that has no path in a store was moved"


def test_a_zone_shows_why_no_run_reads_them(files: Files) -> None:
    reader = ZoneReader(TableName.parse("shop.bronze.orders"), ZONE)
    states = FileStates(ZONE, ZoneSpec(), [reader], consumed=(), changing=())
    shown = [states.describe(file, "") for file in list_zone(files, ZONE)]
    reasons = {file.path: file.reason for file in shown if file}
    assert reasons.pop("good.csv") == ""
    assert len(reasons) == len(ODD)
    assert all("no store takes its name" in reason for reason in reasons.values())
