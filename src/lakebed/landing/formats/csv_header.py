"""Whether the first line of a CSV file is a header, or a row. Pure."""

from collections.abc import Collection, Iterator, Sequence

from lakebed.landing.spec import ZoneSpec
from lakebed.types import STRING
from lakebed.types.spelling import infer_type

_YEARS = range(1800, 2200)


def header_doubt(
    first: Sequence[str],
    others: Sequence[Sequence[str]],
    spec: ZoneSpec,
    *,
    known_names: Collection[str] = (),
) -> str:
    """Why the first line of a file seems to be a row; empty if it may be a header.

    It seems so if some columns hold no text in all other rows, and the first line fits all of
    these. `known_names` are casefolded names of columns that earlier files had. Ascending years are
    names, as in a table with a column a year.
    """
    if "header" in spec.model_fields_set or not spec.header:
        return ""
    if {name.casefold() for name in first} <= {*known_names}:
        return ""
    places = list(_without_text(others, spec, width=len(first)))
    fields = [first[place] for place in places]
    fitting = all(
        _type_name([first[place], *_column(others, place)], spec) != STRING.name for place in places
    )
    if not places or not fitting or _are_years(fields):
        return ""
    shown = ", ".join(repr(field) for field in fields[:3])
    return (
        f"its first line looks like a row, not like the names of columns ({shown} among values of"
        f" the same kind): {spec.how_to_set('header', 'false')} if it is one, or"
        " header: true if these are names"
    )


def _without_text(others: Sequence[Sequence[str]], spec: ZoneSpec, *, width: int) -> Iterator[int]:
    """The columns that have values, none of which is a text."""
    for place in range(width):
        if _type_name(_column(others, place), spec) != STRING.name:
            yield place


def _column(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    return [row[place] for row in rows if place < len(row)]


def _type_name(texts: Sequence[str], spec: ZoneSpec) -> str:
    filled = [text for text in texts if text and text not in spec.nulls]
    return infer_type(filled).name


def _are_years(fields: Sequence[str]) -> bool:
    """At least two: a single one may be a value as well."""
    if not all(field.isdecimal() for field in fields):
        return False
    years = [int(field) for field in fields]
    ascending = years == sorted(set(years))
    return len(years) > 1 and ascending and all(year in _YEARS for year in years)
