"""Texts that are read as a value although its type would not be inferred from them, such as 007."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from lakebed.errors import BadFiles
from lakebed.landing.checking.read_groups import Address, ReadGroup, columns_to_read
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileRows, LandingReader
from lakebed.types import INTEGER_BITS, ColumnType

_NUMBERS = {*INTEGER_BITS, "decimal", "double", "float"}


def odd_texts(
    groups: Sequence[ReadGroup], target: Mapping[str, ColumnType], rows: Mapping[str, FileRows]
) -> dict[str, int]:
    """How many of them each column has; columns without any are left out."""
    found: Counter[str] = Counter()
    spelt = {name.casefold(): name for name in target}
    for member in groups:
        for place, column in enumerate(columns_to_read(member, target)):
            counts = [
                rows[file.path].odd[place : place + 1] for file in member.files if file.path in rows
            ]
            found[spelt[column.name.casefold()]] += sum(map(sum, counts))
    return {name: count for name, count in found.items() if count}


def require_one_spelling(
    reader: LandingReader,
    groups: Sequence[ReadGroup],
    target: Mapping[str, ColumnType],
    *,
    spec: ZoneSpec,
    address: Address,
    keys: Collection[str],
    odd: Collection[str],
) -> None:
    """`BadFiles` if a key has a number in two spellings: rows that were told apart would become
    one.
    """
    texts = [member for member in groups if member.format == "csv"]
    for name in respelt_keys(target, keys=keys, odd=odd):
        asked = [
            member.to_read(columns_to_read(member, target), address)
            for member in texts
            if name.casefold() in {column.casefold() for column in member.columns}
        ]
        pair = reader.two_spellings(asked, name) if asked else None
        if pair:
            advice = spec.how_to_type(name, "string")
            raise _refusal(name, pair, texts[0].files[0].path, advice)


def respelt_keys(
    target: Mapping[str, ColumnType], *, keys: Collection[str], odd: Collection[str] = ()
) -> Iterator[str]:
    """The columns of a key in which a number may have two spellings."""
    for name, type_ in target.items():
        whole = type_.name in INTEGER_BITS or str(type_).endswith(",0)")
        if name.casefold() in keys and type_.name in _NUMBERS and (name in odd or not whole):
            yield name


def _refusal(name: str, pair: tuple[str, str], where: str, advice: str) -> BadFiles:
    first, second = pair
    return BadFiles(
        f"{name} is a key or partition column, and has one number in two spellings: {first!r} and"
        f" {second!r}. Rows that differ in it would become one.",
        where=where,
        safe="Nothing was published, and no file was moved.",
        next=f"To keep them apart, {advice}; or correct the files.",
    )
