"""Files that the job which writes their rows checks: the outcome is that of checking them first, or
they are checked first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pytest

from lakebed.errors import BadFiles
from lakebed.landing import (
    NOTHING_REMEMBERED,
    RememberedTypes,
    SampleFolder,
    ZoneRows,
    ZoneSpec,
    open_zone,
)
from lakebed.landing.source_files import open_source
from lakebed.names import ZoneName
from lakebed.ports import (
    Field,
    FileGroup,
    FileInfo,
    FileRows,
    ObservedRows,
    SeenRows,
    UnreadableFiles,
)
from lakebed.testing import MemoryFiles
from lakebed.types import parse_type
from tests.support.lakes.landing_zones import parquet

ZONE = ZoneName("shop", "z")


@dataclass
class Telling:
    """Infers what it is told, and says that the job saw what it is told."""

    infers: Mapping[str, str]
    sees: Sequence[SeenRows] | None
    asked: list[str] = field(default_factory=list)
    observes: bool = True
    of_parquet: Mapping[str, str] = field(default_factory=dict)

    def infer(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        self.asked.append("samples" if "/samples/" in group.paths[0] else "all")
        found = self.of_parquet if group.format == "parquet" else self.infers
        return tuple(Field(name, type_) for name, type_ in found.items())

    def check(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        self.asked.append("check")
        return tuple(
            FileRows(path, 1, filled=(1,) * len(self.infers))
            for one in groups
            for path in one.paths
        )

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        return {}

    def two_spellings(self, groups: Sequence[FileGroup], column: str) -> tuple[str, str] | None:
        return None

    def read(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> Any:
        return "read"

    def read_observed(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> ObservedRows:
        return ObservedRows("observed", lambda: tuple(self.sees) if self.sees else None)


def opened(reader: Telling, *texts: str, name: str = "{}.csv", **options: Any) -> ZoneRows:
    files, settings = MemoryFiles(), options.pop("settings", {})
    chosen = [
        files.write(f"{ZONE.folder}/{name.format(place)}", text.encode())
        for place, text in enumerate(texts)
    ]
    landed = open_zone(
        reader,
        files,
        ZONE,
        chosen,
        ZoneSpec.model_validate(settings),
        address=str,
        run_id="r",
        checked="while_reading",
        **options,
    )
    assert [file.path for file in files.list()] == [file.path for file in chosen]
    return landed


LARGE = 1000


@pytest.fixture(autouse=True)
def large_files_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("propose.SMALL", "sample._HEAD"):
        monkeypatch.setattr(f"lakebed.landing.checking.{name}", LARGE)


def large(*lines: str) -> str:
    """A file whose types are taken from a sample."""
    return "\n".join((*lines, *[lines[-1]] * LARGE)) + "\n"


CLEAN = SeenRows(2, filled=(2, 2))
A_B = {"a": "int", "b": "string"}


def test_small_files_are_inferred_from_all_values_and_large_ones_from_samples() -> None:
    small, big = Telling(A_B, [CLEAN]), Telling(A_B, [CLEAN])
    assert opened(small, "a,b\n1,x\n").frame == "observed"
    assert opened(big, large("a,b", "1,x")).frame == "observed"
    assert (small.asked, big.asked) == (["all"], ["samples"])


def test_files_of_known_types_are_read_only_by_the_job_that_writes_their_rows() -> None:
    reader = Telling({}, [CLEAN])
    known = RememberedTypes({name: parse_type(type_) for name, type_ in A_B.items()})
    landed = opened(reader, large("a,b", "1,x"), remembered=known)
    assert (landed.frame, reader.asked) == ("observed", [])
    assert landed.prove
    proved = landed.prove()
    assert proved
    assert ({name: str(one) for name, one in proved.learned.items()}, proved.bad) == (A_B, ())


@pytest.mark.parametrize(
    "seen",
    [
        None,
        [SeenRows(2, doubtful=1, filled=(2, 2))],
        [SeenRows(2, filled=(2, 2))],
    ],
    ids=["nothing was seen", "doubtful rows", "values the sample did not show"],
)
def test_whatever_the_job_cannot_vouch_for_is_not_proved(seen: Sequence[SeenRows] | None) -> None:
    """In the last case `b` is a string only because the sample shows no value of it."""
    without = "1," if seen and not seen[0].doubtful else "1,x"
    landed = opened(Telling({"a": "timestamp", "b": "string"}, seen), large("a,b", without))
    assert landed.prove
    assert landed.prove() is None


@pytest.mark.parametrize("before", ["", "\n", "\ufeff", "  \n\n"])
def test_a_header_is_no_value_wherever_it_stands(before: str) -> None:
    text = before + large("a,b", "1,")
    landed = opened(Telling(A_B, [SeenRows(2, filled=(2, 1))]), text)
    assert landed.prove
    assert landed.prove() is None


def test_a_column_without_any_value_is_proved_and_its_type_is_not_learned() -> None:
    landed = opened(Telling(A_B, [SeenRows(2, filled=(2, 0))]), large("a,b", "1,"))
    assert landed.prove
    proved = landed.prove()
    assert proved
    assert {name: str(one) for name, one in proved.learned.items()} == {"a": "int"}


@pytest.mark.parametrize(
    ("settings", "name", "types", "text"),
    [
        ({}, "{}.csv", {"a": "decimal(20,0)", "b": "string"}, large("a,b", "1,x")),
        ({"date_format": "yyyyMMdd"}, "{}.csv", {"a": "date", "b": "string"}, large("a,b", "1,x")),
        ({"nulls": ["NA", ""]}, "{}.csv", A_B, large("a,b", "1,x")),
        ({"multiline": True}, "{}.csv", A_B, "a,b\n1,x\n"),
        ({"expected_schema": A_B}, "{}.json", A_B, '{"a":1,"b":"x"}\n'),
        ({}, "{}.json", {"a": "struct<c:bigint>"}, '{"a":{"c":1}}\n'),
        ({}, "{}.json", A_B, '[{"a":1},\n{"b":"x"}]'),
        ({}, "{}.csv", {"a": "int", "b": "string"}, large("a,b", "1,x").replace("\n", "\r")),
    ],
    ids=[
        "digits",
        "own dates",
        "several nulls",
        "multiline",
        "expected keys",
        "records in records",
        "an array",
        "no lines to cut at",
    ],
)
def test_files_whose_types_or_ends_a_job_cannot_vouch_for_are_checked_first(
    settings: dict[str, Any], name: str, types: dict[str, str], text: str
) -> None:
    reader = Telling(types, [CLEAN])
    landed = opened(reader, text, name=name, settings=settings)
    assert (landed.frame, landed.prove, reader.asked[-1]) == ("read", None, "check")


def test_a_key_that_no_sample_shows_must_not_have_a_value() -> None:
    """The other file has the column, so JSON records are read with it."""
    files, seen = MemoryFiles(), SeenRows(2, filled=(0, 2, 2))
    chosen = [
        files.write(f"{ZONE.folder}/1.json", large('{"a":1,"b":"x"}').encode()),
        files.write(f"{ZONE.folder}/2.parquet", parquet({"k": [1]})),
    ]
    for last, proved in ((0, True), (1, False)):
        reader = Telling(A_B, [replace(seen, filled=(last, 2, 2)), CLEAN])
        reader.of_parquet = {"k": "int"}
        landed = open_zone(
            reader,
            files,
            ZONE,
            chosen,
            ZoneSpec(),
            address=str,
            run_id="r",
            checked="while_reading",
        )
        assert landed.prove
        assert (landed.prove() is not None) == proved


def test_a_sample_of_numbers_beside_a_file_of_decimals_is_checked_first() -> None:
    """Its other values may be doubles that fit the decimals, and all would have to be doubles."""
    reader = Telling({"a": "int", "b": "string"}, [CLEAN, CLEAN])
    files, declared = MemoryFiles(), parquet({"a": [Decimal("1.25")]})
    chosen = [
        files.write(f"{ZONE.folder}/1.csv", large("a,b", "1,x").encode()),
        files.write(f"{ZONE.folder}/2.parquet", declared),
    ]
    reader.of_parquet = {"a": "decimal(3,2)"}
    landed = open_zone(
        reader, files, ZONE, chosen, ZoneSpec(), address=str, run_id="r", checked="while_reading"
    )
    assert landed.prove is None


def test_an_engine_that_does_not_tell_what_it_saw_checks_files_first() -> None:
    reader = Telling(A_B, [CLEAN], observes=False)
    assert (opened(reader, "a,b\n1,x\n").prove, reader.asked) == (None, ["all", "check"])


def test_a_zone_with_a_file_that_is_bad_at_first_sight_is_checked_first() -> None:
    reader = Telling(A_B, [CLEAN])
    files = MemoryFiles()
    chosen = [
        files.write(f"{ZONE.folder}/{name}", text)
        for name, text in (("good.csv", b"a,b\n1,x\n"), ("bad.doc", b"?"))
    ]
    landed = open_zone(
        reader, files, ZONE, chosen, ZoneSpec(), address=str, run_id="r", checked="while_reading"
    )
    assert (landed.prove, len(landed.set_aside)) == (None, 1)


class OfOthers(MemoryFiles):
    """Files of others: nothing may be written among them; says which were read."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.closed = False

    def write(self, path: str, data: Any) -> FileInfo:
        assert not self.closed
        return super().write(path, data)

    def read(self, path: str, **options: Any) -> bytes:
        self.seen.add(path)
        return super().read(path, **options)


RECORD = '{"a":1,"b":"x"}\n'


def open_others(
    files: OfOthers, reader: Telling, texts: Sequence[str]
) -> tuple[ZoneRows, MemoryFiles]:
    chosen = [files.write(f"raw/{place}.json", text.encode()) for place, text in enumerate(texts)]
    own, files.closed = MemoryFiles(), True
    landed = open_source(
        reader,
        files,
        chosen,
        ZoneSpec(on_bad_file="fail"),
        where="raw",
        address=str,
        remembered=NOTHING_REMEMBERED,
        path_column="p",
        checked="while_reading",
        samples=SampleFolder(own, ".data/staging/r/samples", str),
    )
    return landed, own


def test_samples_of_a_source_are_put_into_the_lake_and_few_files_are_opened() -> None:
    files, reader = OfOthers(), Telling(A_B, [CLEAN])
    landed, own = open_others(files, reader, [RECORD * 9] * 300)
    assert (landed.frame, reader.asked) == ("observed", ["samples"])
    assert len(files.seen) < 70
    assert list(own.list()) == []


@pytest.mark.parametrize(
    "odd", ["[1,\n 2]", "", '[{"a":1}]', "x"], ids=["many lines", "none", "an array", "broken"]
)
def test_of_a_source_whose_files_differ_every_one_is_looked_at(odd: str) -> None:
    """The last file is among those that are looked at."""
    files, reader = OfOthers(), Telling(A_B, [CLEAN])
    texts = [*[RECORD] * 300, odd]
    if odd == "x":
        with pytest.raises(BadFiles, match=r"raw/300\.json"):
            open_others(files, reader, texts)
    else:
        landed, _ = open_others(files, reader, texts)
        assert (landed.frame, landed.prove is None) == (
            ("observed", False) if not odd else ("read", True)
        )
    assert (len(files.seen) > 250) == bool(odd)
