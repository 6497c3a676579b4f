"""Which hidden tables are derived from which: told by their properties, whatever they are named.
Pure but for one look at the catalog.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import uuid4

from lakebed.derived.spec import LayoutSpec, read_spec, spec_json
from lakebed.errors import BadName
from lakebed.names import TableName
from lakebed.ports import NAME, SOURCE_UUID, Catalog, Pointer, TableMetadata

KIND = "lakebed.derived"  # property of a derived table: what it is
SPEC = "lakebed.derived-spec"  # property of a derived table: its spec, as JSON
# property of a table: the names of what is derived from it, as JSON. Only a hint, so that tables
# without any cost no look: a derived table itself tells which one it is computed from.
DERIVED_TABLES = "lakebed.derived-tables"
# property of a layout: the source's snapshot as of which it had all rows
COVERS = "lakebed.covers"
LAYOUT = "layout"

ReadMetadata = Callable[[Collection[Pointer]], Mapping[TableName, TableMetadata]]


@dataclass(frozen=True)
class Layout:
    """A layout as the catalog has it."""

    pointer: Pointer
    metadata: TableMetadata
    spec: LayoutSpec

    @property
    def table(self) -> TableName:
        return self.pointer.table

    @property
    def name(self) -> str:
        """The name that people use."""
        return self.spec.label

    @property
    def source_uuid(self) -> str:
        return self.metadata.properties[SOURCE_UUID]

    @property
    def covers(self) -> int | None:
        """The source's snapshot as of which it had all rows; None if it never had."""
        said = self.metadata.properties.get(COVERS, "")
        return int(said) if said.isdigit() else None


def new_table_name(source: TableName, *, underscore: bool) -> TableName:
    """A name for a new derived table, which nobody can guess or type by accident."""
    lead = "_" if underscore else ""
    return TableName(source.namespace, source.layer, f"{lead}mv_{uuid4().hex}")


def layout_properties(spec: LayoutSpec, table: TableName, source_uuid: str) -> dict[str, str]:
    """What a layout says about itself."""
    return {
        NAME: str(table),
        SOURCE_UUID: source_uuid,
        KIND: LAYOUT,
        SPEC: spec_json(spec),
    }


def listed_tables(source: TableMetadata) -> tuple[TableName, ...]:
    """The names of what may be derived from a table."""
    try:
        names = json.loads(source.properties.get(DERIVED_TABLES, "[]"))
        found = [TableName.parse(name) for name in names]
    except (ValueError, TypeError, AttributeError, BadName):
        return ()
    return tuple(table for table in found if table.derived)


def listing(tables: Collection[TableName]) -> str | None:
    """The value of the property `DERIVED_TABLES`; None: there is nothing to list."""
    return json.dumps(sorted(map(str, tables))) if tables else None


def find_layouts(
    source: TableMetadata, catalog: Catalog, *, metadata: ReadMetadata | None = None
) -> tuple[Layout, ...]:
    """The layouts of a table, by name. A table that lists none is not looked for in the catalog."""
    names = listed_tables(source)
    if not names:
        return ()
    pointers = catalog.pointers(names)
    found = (metadata or catalog.metadata)(pointers.values())
    known = (layout_of(pointers[table], one) for table, one in found.items())
    mine = [one for one in known if one and one.source_uuid == source.uuid]
    return tuple(sorted(mine, key=lambda one: (one.name, one.table)))


def layouts_lease(table: TableName) -> str:
    """The lease of whoever makes, drops or lists layouts of a table."""
    return f"{table}#layouts"


def unknown_kind(metadata: TableMetadata) -> str | None:
    """What a derived table says it is, if this version of Lakebed does not know such a kind or
    cannot read its spec: a newer version made it, and it is left alone. None otherwise.
    """
    kind = metadata.properties.get(KIND)
    is_known = kind == LAYOUT and read_spec(metadata.properties.get(SPEC, "")) is not None
    return None if is_known else kind


def layout_of(pointer: Pointer, metadata: TableMetadata) -> Layout | None:
    """The layout that a table is; None for any other table."""
    properties = metadata.properties
    if properties.get(KIND) != LAYOUT or SOURCE_UUID not in properties:
        return None
    spec = read_spec(properties.get(SPEC, ""))
    return Layout(pointer, metadata, spec) if spec else None
