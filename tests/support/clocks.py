"""Tables as another program leaves them whose clock was ahead."""

import json
import time
from datetime import timedelta
from typing import Any, Protocol
from uuid import uuid4

from lakebed.app.stores import Stores
from lakebed.engines.iceberg.catalog.pointer_rows import DatabasePointerRows
from lakebed.names import TableName
from lakebed.ports import PointerChange

AHEAD = timedelta(hours=1)


class CatalogAndStores(Protocol):
    """A lake or a bench."""

    @property
    def iceberg(self) -> Any: ...
    @property
    def stores(self) -> Stores: ...


def write_ahead(place: CatalogAndStores, table: TableName, *, by: timedelta = AHEAD) -> int:
    """Commit the table's last change again, as if a clock had been ahead; returns its time in
    milliseconds.
    """
    loaded = place.iceberg.load_table(table.parts)
    with loaded.io.new_input(loaded.metadata_location).open() as file:
        document = json.loads(file.read())
    then = int((time.time() + by.total_seconds()) * 1000)
    document["last-updated-ms"] = then
    document["snapshot-log"][-1]["timestamp-ms"] = then
    document["snapshots"][-1]["timestamp-ms"] = then
    former = {"metadata-file": loaded.metadata_location, "timestamp-ms": then}
    document["metadata-log"] = [*document.get("metadata-log", []), former]
    location = f"{document['location']}/metadata/00099-{uuid4()}.metadata.json"
    with loaded.io.new_output(location).create() as file:
        file.write(json.dumps(document).encode())
    rows = DatabasePointerRows(place.stores.database, file_properties={})
    (row,) = (row for row in rows.rows() if row.table == table)
    rows.change([PointerChange(row, location)])
    return then
