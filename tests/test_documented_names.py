"""The table of names in docs/reference.md: names are accepted and refused as it says."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.derived.checks import require_possible
from lakebed.derived.spec import LayoutSpec
from lakebed.errors import BadName
from lakebed.kartothek.format.names import require_table, require_uuid
from lakebed.landing.put import require_file_name
from lakebed.names import AssetKey, TableName, ZoneName, require_ref_name
from lakebed.ports import Column, TableMetadata
from lakebed.tables.operations.naming import shown_name
from tests.test_docs import ROOT

_ORDERS = TableName("shop", "bronze", "orders")
_COLUMNS = (Column("id", "long", required=False),)
_METADATA = TableMetadata(
    "u", "l", 2, datetime(2026, 1, 1, tzinfo=UTC), _COLUMNS, (), (), {}, {}, {}
)
REQUIRED: dict[str, Callable[[str], object]] = {
    "namespace": lambda name: TableName.of_pipeline(name, "bronze", "orders"),
    "layer": lambda name: TableName.of_pipeline("shop", name, "orders"),
    "pipeline": lambda name: TableName.of_pipeline("shop", "bronze", name),
    "zone": lambda name: ZoneName("shop", name),
    "table that no pipeline makes": lambda name: shown_name(TableName("shop", "raw", name)),
    "asset key segment": lambda name: AssetKey((name,)),
    "tag": require_ref_name,
    "branch": require_ref_name,
    "layout": lambda name: require_possible(
        LayoutSpec(name=name, sort_by=("id",)), _ORDERS, _METADATA
    ),
    "file in a zone with its folders": require_file_name,
    "Kartothek dataset": require_uuid,
    "table of a Kartothek dataset": require_table,
}


@dataclass(frozen=True)
class Documented:
    """A row of the table, for one of its kinds."""

    kind: str
    pattern: str
    longest: int | None
    reserved: tuple[str, ...]

    def accepted(self) -> st.SearchStrategy[str]:
        """Names that the row allows."""
        names = st.from_regex(self.pattern, fullmatch=True).map(lambda name: name[: self.longest])
        return names.filter(lambda name: not self.is_reserved(name))

    def is_reserved(self, name: str) -> bool:
        return any(re.fullmatch(word, name) for word in self.reserved)

    def refused(self) -> st.SearchStrategy[str]:
        """Names that the row forbids."""
        others = st.text(min_size=1).filter(lambda name: not re.fullmatch(self.pattern, name))
        return st.one_of(others, *(st.from_regex(word, fullmatch=True) for word in self.reserved))


def documented() -> list[Documented]:
    page = (ROOT / "docs" / "reference.md").read_text()
    section = page.split("## Names\n")[1].split("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if "| `" in line]
    return [
        Documented(kind.strip(), _words(pattern)[0], _number(longest), _words(reserved))
        for kinds, pattern, longest, reserved in rows
        for kind in kinds.split(",")
    ]


def _words(cell: str) -> tuple[str, ...]:
    return tuple(word.replace("\\|", "|") for word in re.findall("`(.*?)`", cell))


def _number(cell: str) -> int | None:
    found = re.search(r"\d+", cell)
    return int(found[0]) if found else None


def test_the_table_lists_whatever_people_name() -> None:
    assert {row.kind for row in documented()} == set(REQUIRED)


@pytest.mark.parametrize("row", documented(), ids=lambda row: row.kind)
@settings(max_examples=20)
@given(data=st.data())
def test_names_are_accepted_and_refused_as_the_reference_says(
    row: Documented, data: st.DataObject
) -> None:
    name, other = data.draw(row.accepted()), data.draw(row.refused())
    require = REQUIRED[row.kind]
    require(name)
    with pytest.raises(BadName):
        require(other)
    if row.longest:
        long = (name * row.longest)[: row.longest]
        require(long)
        with pytest.raises(BadName):
            require(long + "a")
