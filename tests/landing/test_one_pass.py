"""Files that the job which reads their rows checks: Spark's answers are those that checking all files
first would give.
"""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lakebed.engines.spark.failures import answering
from lakebed.engines.spark.landing.value_checks import count_any, has_odd_sign
from lakebed.errors import BadFiles, LakebedError
from lakebed.landing import NOTHING_REMEMBERED, CheckedFiles, RememberedTypes, ZoneRows
from lakebed.ports import Field, FileGroup, UnreadableFiles
from lakebed.types import parse_type
from lakebed.types.spelling import infer_type
from tests.support.lakes.landing_zones import (
    SparkReader,
    Zone,
    folder_zone,
    parquet,
    reasons,
    zipped,
)
from tests.support.scale import SCALE, SEED, fuzz_seed
from tests.support.spellings import documented, is_kept, random_cell

pytestmark = pytest.mark.spark

_TEXTS = (
    "1 7 -3 +4 007 0 2147483648 -2147483649 9223372036854775808 1.5 .5 1. 1e3 1E400 NaN nan Infinity"
    " inf -Inf 1d 1f 0x1 1_000 true TRUE false t yes 2024 1999 12024 20240131 2024-01 2024-01-31"
    " 2024-1-3 0001-01-01 12024-01-01 2024-01-31T10:00:00 2024-01-31T10:00 2024-01-31T10:00:00Z"
    " 2024-01-31T10:00:00.123456+02:00 2024-02-30 10:00 T10:00 now epoch x - ? \u0661 \uff12 null"
)
_BLANKS = ["", " ", " 1", "1 ", " 1.5 ", "2024-01-31 10:00:00", " 2024-01-31 ", "true "]
VALUES = [*_TEXTS.split(), *_BLANKS]
ALIKE = [
    ["1", "7", "-3", "+4", "007", "0"],
    ["1", "2147483648", "-5"],
    ["1.5", "1", "NaN", "1e3", "-Inf", "1d"],
    ["true", "FALSE", "True"],
    ["2024-01-31", "2023-12-01"],
    ["2024-01-31T10:00:00", "2024-01-31 10:00", "2024-01-31"],
    ["x", "7", "1.5", "true", "2024-01-31"],
]


def column(draw: Random) -> tuple[list[str], list[str]]:
    """The values of a column that a sample shows, and the others: mostly of one kind."""
    kind = draw.choice(ALIKE)
    more = [*kind, draw.choice(VALUES)] if draw.random() < 0.6 else kind
    shown = [draw.choice([*kind, "", draw.choice(VALUES)]) for _ in range(draw.randint(1, 3))]
    return shown, [draw.choice([*more, ""]) for _ in range(draw.randint(1, 4))]


def text(columns: Sequence[Sequence[str]]) -> str:
    rows = range(max(map(len, columns)))
    lines = [",".join(one[row] if row < len(one) else "" for one in columns) for row in rows]
    return "\n".join([",".join(f"c{place}" for place in range(len(columns))), *lines]) + "\n"


def test_if_all_values_fit_what_a_sample_shows_then_all_values_show_the_same(zone: Zone) -> None:
    """Each column is a case of its own. The types that are taken from samples are those that
    inference over all values finds; today's inference is the oracle.
    """
    draw = Random(SEED)
    proved = sum(
        samples_tell_the_truth(zone, [column(draw) for _ in range(40)]) for _ in range(SCALE)
    )
    assert proved


def samples_tell_the_truth(zone: Zone, cases: Sequence[tuple[list[str], list[str]]]) -> int:
    """The number of columns whose type is certain."""
    first = zone.land("first.csv", text([shown for shown, _ in cases]))
    rest = zone.land("rest.csv", text([others for _, others in cases]))
    names = tuple(Field(f"c{place}", "string") for place in range(len(cases)))

    def group(columns: tuple[Field, ...], *paths: str) -> FileGroup:
        return FileGroup("csv", tuple(map(zone.root.at, paths)), OPTIONS, columns)

    sampled, inferred = (
        zone.reader.infer(group(names, *paths)) for paths in ([first], [first, rest])
    )
    assert not isinstance(sampled, UnreadableFiles)
    assert not isinstance(inferred, UnreadableFiles)
    odd = odd_texts(zone.reader, group(sampled, rest))
    proved = 0
    for case, one, whole, doubts in zip(cases, sampled, inferred, odd, strict=True):
        certain = one.type in {"boolean", "int", "bigint", "double", "date", "timestamp"}
        shows = one.type == "string" and any(any(map(str.isalnum, value)) for value in case[0])
        if not doubts and (certain or shows):
            proved += 1
            assert one.type == whole.type, case
    return proved


OPTIONS = {
    "header": "true",
    "nullValue": "",
    "dateFormat": "yyyy-MM-dd",
    "enableDateTimeParsingFallback": "false",
}


def odd_texts(reader: SparkReader, group: FileGroup) -> tuple[int, ...]:
    """The number of texts in each column from which its type would not be inferred."""
    found = reader.check([group])
    assert not isinstance(found, UnreadableFiles)
    return found[0].odd


def test_a_file_of_a_thousand_texts_does_not_overflow_the_stack(spark: Any) -> None:
    doubts = [has_odd_sign(Field("v", "string"), {"escape": '"'})] * 1000
    frame = spark.sql("SELECT 'a' AS v").agg(count_any(doubts).alias("doubtful"))
    assert frame.columns == ["doubtful"]


GOOD = {
    "1.csv": "id,at,price,word,none\n1,2024-01-31 10:00:00,1.50,x,\n2,2024-02-01 10:00:00,2,y,\n",
    "2.csv": "id,at,price,word,none\n3,,0.25,z,\n",
    "3.csv": "word,id,more\nw,3000000000,true\n",
}


def test_the_outcome_is_that_of_checking_first_and_bad_values_are_never_proved(
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed.landing.checking.propose.SMALL", 0)
    for name, data in GOOD.items():
        zone.land(name, data)
    zone.land("4.parquet", parquet({"id": [7], "kind": ["p"]}))
    at_once = in_one_pass(zone)
    assert at_once
    assert "check" not in zone.reader.jobs
    assert at_once == checked_first(zone)

    zone.set(types={"price": "decimal(4,1)"})  # 0.25 would be rounded
    assert in_one_pass(zone) is None
    zone.set()
    for bad in ("\ufffd,4,true", "w,4,true,5"):
        zone.land("5.csv", f"word,id,more\n{bad}\n")
        assert in_one_pass(zone) is None


@pytest.mark.parametrize("format", ["csv", "json"])
def test_files_that_are_proved_by_the_job_that_reads_them_would_have_passed_every_check(
    format: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zones with whatever may be wrong with their files: what is proved at once equals the outcome
    of checking all files first, in which nothing is set aside and nothing is widened.
    """
    for name, size in (("propose.SMALL", 0), ("sample._HEAD", 64)):
        monkeypatch.setattr(f"lakebed.landing.checking.{name}", size)
    draw = Random(SEED)
    for number in range(3 * SCALE):
        zone = folder_zone(tmp_path / str(number), spark)
        zone.set(**draw.choice(SETTINGS))
        files = csv_files(draw) if format == "csv" else json_files(draw)
        for name, data in files.items():
            zone.land(name, data)
        known = draw.choice(KNOWN)
        at_once = in_one_pass(zone, known)
        if at_once is not None:
            assert at_once == checked_first(zone, known), (zone.spec, known, files)


SETTINGS: list[dict[str, Any]] = [
    {},
    {},
    {"nulls": ["NA"]},
    {"nulls": ["NA", "-"]},
    {"encoding": "iso8859-1"},
    {"infer_types": False},
    {"types": {"c0": "decimal(5,1)", "c1": "date"}},
    {"expected_schema": {"c0": "double", "c1": "string", "c2": "timestamp"}},
]
KNOWN = [
    RememberedTypes(),
    RememberedTypes(),
    RememberedTypes({"c0": parse_type("bigint")}),
    RememberedTypes({"c1": parse_type("decimal(4,1)")}, may_widen=lambda *_: True),
    RememberedTypes({f"c{place}": parse_type("double") for place in range(3)}),
]


def csv_files(draw: Random) -> dict[str, bytes]:
    """Files of three columns, each mostly of one kind; with some of them, something is odd."""
    kinds = [draw.choice(ALIKE) for _ in range(3)]
    made = {f"{number}.csv": csv_file(draw, kinds) for number in range(draw.randint(1, 3))}
    if draw.random() < 0.15:
        made["4.csv.gz"] = zipped(csv_file(draw, kinds).decode("latin-1"))
    if draw.random() < 0.2:
        made["5.parquet"] = parquet({"c0": [draw.choice([1, 2.5, "x", Decimal("1.25")])]})
    return made


def json_files(draw: Random) -> dict[str, bytes]:
    kinds = [draw.choice(JSON_ALIKE) for _ in range(3)]
    made = {f"{number}.ndjson": json_file(draw, kinds) for number in range(draw.randint(1, 3))}
    if draw.random() < 0.2:
        made["4.csv"] = draw.choice([b"c0,c4\n1,2\n", b"C0\nx\n", b"c1\n\n"])
    return made


JSON_ALIKE = [
    ["1", "7", "-3", "2147483648"],
    ["1.5", "1", "2e3", "9223372036854775808"],
    ["true", "false"],
    ['"x"', '"7"', '"a}b"', "8", '"\\u00e9"', "[1]"],
]
JSON_ODD = [
    *("9223372036854775808", "NaN", '"NaN"', '"Infinity"', "1e999", "{}", '{"b":1}', "[]", '""'),
    *("0.1", "'x'", "1.0", "007", "tru", '"2024-01-31"', '"\xe9"', '"a\tb"', "12345678901234567.5"),
]
ODD_LINES = [
    *('{"c0":1} {"c0":2}', '{"c0":1}{"c0":2}', '{"c0":null}}', '{"c0":null} x', '{"c0":null}]'),
    *(
        '{"c\\u0030":1.50}',
        '{"c0":1,"c0":2}',
        '{"C0":1}',
        '{"c9":null}',
        '{"c9":{}}',
        '[{"c1":null}]',
        "[]",
        "{}",
    ),
    *("null", "5", "", " ", "\t", '{"c0":', "\ufeff{}", '{"c0" :null}', '{ "c1": null }', "{c0:1}"),
]


def json_file(draw: Random, kinds: Sequence[Sequence[str]]) -> bytes:
    lines = []
    for _ in range(draw.choice([1, 2, 8, 20])):
        values = [draw.choice([*kind, "null"]) for kind in kinds]
        if draw.random() < 0.04:
            values[draw.randrange(3)] = draw.choice(JSON_ODD)
        colon = draw.choice([":", ":", ": ", " :\t"])
        pairs = [f'"c{place}"{colon}{value}' for place, value in enumerate(values)]
        draw.shuffle(pairs)
        lines.append("{" + ",".join(pairs[: draw.choice([3, 3, 3, 2])]) + "}")
        if draw.random() < 0.03:
            lines.append(draw.choice(ODD_LINES))
    text = draw.choice(["\n", "\n", "\r\n"]).join([*lines, ""])
    data = text.encode(draw.choice(["utf-8", "utf-8", "latin-1"]), "replace")
    return data[: draw.randrange(len(data))] if draw.random() < 0.05 else data


def csv_file(draw: Random, kinds: Sequence[Sequence[str]]) -> bytes:
    names = ["c0", "c1", "c2"]
    if draw.random() < 0.15:
        names = draw.choice([["c2", "c0", "c1"], ["c0", "C1"], [*names, "c3"], ["c0", "c0", "c2"]])
    lines = [",".join(names)]
    for _ in range(draw.choice([0, 2, 8, 20])):
        row = [draw.choice([*kinds[place % 3], "", "NA"]) for place in range(len(names))]
        if draw.random() < 0.02:
            odd = [*VALUES, '"a\nb"', '"a""b"', '"a', "a,b", "\xe9", "\0", '"NA"', "-"]
            row[draw.randrange(len(row))] = draw.choice(odd)
        lines.append(",".join(row))
    ending = draw.choice(["\n", "\n", "\n", "\r\n", "\n\n"])
    text = draw.choice(["", "", "", "\ufeff", "\n"]) + ending.join([*lines, ""])
    data = text.encode(draw.choice(["utf-8", "utf-8", "latin-1"]), "replace")
    return data[: draw.randrange(len(data))] if draw.random() < 0.05 else data


Outcome = tuple[Any, ...]


def in_one_pass(zone: Zone, known: RememberedTypes = NOTHING_REMEMBERED) -> Outcome | None:
    """The outcome if the job that read the rows has proved it, as in a run that need not start
    over; None if it has not.
    """
    try:
        landed = zone.open(checked="while_reading", keep=True, remembered=known)
        if not landed.prove:
            return None
        with answering():
            rows = landed.frame.filter("rand() < 2").collect()
    except LakebedError:
        return None
    proved = landed.prove()
    return _outcome(landed, proved, rows) if proved else None


def checked_first(zone: Zone, known: RememberedTypes = NOTHING_REMEMBERED) -> Outcome:
    landed = zone.open(remembered=known)
    return _outcome(landed, landed.checked, landed.frame.collect())


def _outcome(landed: ZoneRows, checked: CheckedFiles, rows: Sequence[Any]) -> Outcome:
    return (
        list(checked.target.items()),
        list(checked.learned.items()),
        # a sample may show a narrower type than the target, in which other files have a part
        [(one.files, list(one.types)) for one in checked.groups],
        (checked.widened, checked.json_columns, checked.bad, landed.set_aside),
        landed.files,
        sorted(map(repr, rows)),
    )


def one_column_a_text(texts: Sequence[str]) -> str:
    names = ",".join(f"c{place}" for place in range(len(texts)))
    return f"{names}\n{','.join(chr(34) + text + chr(34) for text in texts)}\n"


def test_spark_reads_the_documented_spellings_as_documented(zone: Zone) -> None:
    rows = documented()
    zone.land("a.csv", one_column_a_text([text for text, _ in rows]))
    landed = zone.open()
    assert [str(type_) for type_ in landed.checked.target.values()] == [type_ for _, type_ in rows]
    (values,) = landed.frame.collect()
    assert all(is_kept(text, value) for (text, _), value in zip(rows, values, strict=True))


def test_what_is_stored_of_random_texts_is_written_back_as_the_same_number_or_text(
    zone: Zone,
) -> None:
    """Each column is a case of its own; its texts are in two files, which are read together."""
    draw = Random(fuzz_seed(26))
    for _ in range(SCALE):
        columns = [[random_cell(draw) for _ in range(3)] for _ in range(60)]
        names = ",".join(f"c{place}" for place in range(len(columns)))
        for number in range(3):
            row = ",".join(f'"{column[number]}"' for column in columns)
            zone.land(f"{number}.csv", f"{names}\n{row}\n")
        landed = zone.open()
        assert reasons(landed) == {}
        types = [str(type_) for type_ in landed.checked.target.values()]
        assert types == [str(infer_type(filter(None, column))) for column in columns]
        spelt = [list(row) for row in zip(*columns, strict=True)]
        stored = landed.frame.toArrow().to_pylist()  # collect() fails at the first day of year 1
        for values in map(dict.values, stored):
            assert any(all(map(is_kept, texts, values)) for texts in spelt), values


def test_digits_that_a_json_number_would_lose_make_a_decimal_or_text(zone: Zone) -> None:
    numbers = {
        "a": "0.12345678901234567890123",
        "b": "123456789012345678901234567890123456789",
        "c": "0.30000000000000004",
        "d": "1E5",
        "e": "[1.5, 0.10000000000000001]",
    }
    zone.land(
        "a.json", "{" + ", ".join(f'"{name}": {text}' for name, text in numbers.items()) + "}"
    )
    landed = zone.open()
    assert {name: str(type_) for name, type_ in landed.checked.target.items()} == {
        "a": "decimal(23,23)",
        "b": "string",
        "c": "double",
        "d": "double",
        "e": "array<decimal(18,17)>",
    }
    (row,) = landed.frame.collect()
    assert (row.a, row.b) == (Decimal(numbers["a"]), numbers["b"])
    for known in ({"a": "double"}, {"a": "decimal(25,2)"}):
        zone.set(types=known)
        assert "more digits than a" in reasons(zone.open(keep=False))["a.json"]
        zone.land("a.json", f'{{"a": {numbers["a"]}}}\n')
        assert in_one_pass(zone) is None


def test_known_types_take_other_spellings_with_a_count_and_no_suffix_or_lost_digit(
    zone: Zone,
) -> None:
    known = RememberedTypes({"id": parse_type("bigint"), "x": parse_type("double")})
    zone.land("a.csv", "id,x\n007,1E5\n8,1.5\n+9,2.50\n")
    landed = zone.open(remembered=known)
    assert zone.by_id(landed) == [(7, 100000.0), (8, 1.5), (9, 2.5)]
    assert landed.checked.odd == {"id": 2, "x": 1}
    assert in_one_pass(zone, known) is None
    zone.set(types={"id": "bigint", "x": "double"})
    landed = zone.open()
    assert (zone.by_id(landed)[0], landed.checked.odd) == ((7, 100000.0), {})
    zone.land("b.csv", "id,x\n1,12D\n")
    zone.land("c.csv", "id,x\n1,0.1234567890123456789\n")
    found = reasons(zone.open())
    assert "has '12D' in the column x, which is double" in found["b.csv"]
    assert "more digits than x double can keep" in found["c.csv"]


def test_two_spellings_of_one_number_in_a_key_refuse_the_run_and_are_named(zone: Zone) -> None:
    known = RememberedTypes(keys=frozenset({"id"}))
    zone.land("a.csv", "id,v\n1.5,1.50\n2,2\n")
    zone.land("b.csv", "ID,v\n2.50,1.5\n")
    assert len(zone.by_id(zone.open(remembered=known))) == 3
    zone.land("b.csv", "ID,v\n1.50,1.5\n")
    with pytest.raises(BadFiles, match=r"id is a key .* '1\.5' and '1\.50'"):
        zone.open(remembered=known)
    assert in_one_pass(zone, known) is None
    typed = RememberedTypes({"id": parse_type("bigint")}, keys=frozenset({"id"}))
    zone.land("a.csv", "id\n007\n")
    zone.land("b.csv", "id\n7\n")
    with pytest.raises(BadFiles, match="'007' and '7'"):
        zone.open(remembered=typed)


def test_files_whose_numbers_no_type_holds_together_are_text(zone: Zone) -> None:
    zone.land("a.csv", "id,x\n1,9007199254740993\n")
    zone.land("b.csv", "x\n0.5\n")
    landed = zone.open()
    assert reasons(landed) == {}
    assert sorted(row.x for row in landed.frame.collect()) == ["0.5", "9007199254740993"]
