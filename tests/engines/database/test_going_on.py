"""A run that goes on after an intended publication: its record is the later one only once the
publication has happened.
"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakebed.engines.database.state.publications import (
    INTENDED,
    delete_intended,
    mark_published,
    record,
)
from lakebed.names import TableName
from lakebed.ports import BatchRun, Publication, PublicationRecords, RunRecord
from tests.support.benches import sqlite_bench

TABLE = TableName("shop", "bronze", "orders")
RUN = RunRecord("r", "i", TABLE, "running", datetime(2026, 11, 16, tzinfo=UTC))
LATER = replace(RUN, batches=(BatchRun("year=2020", "success", "new"),))


@pytest.mark.parametrize(("settles", "known"), [(mark_published, LATER), (delete_intended, RUN)])
def test_a_line_of_a_batch_is_stored_when_its_publication_is_settled(
    settles: object, known: RunRecord, tmp_path: Path
) -> None:
    stores = sqlite_bench(tmp_path).stores
    stores.records.write(RUN)
    publication = Publication("r-1", ())
    with stores.database.writing() as connection:
        record(
            connection,
            stores.database,
            publication,
            state=INTENDED,
            records=PublicationRecords((LATER,)),
        )
    assert stores.records.run("r") == RUN
    with stores.database.writing() as connection:
        settles(connection, stores.database, publication)  # type: ignore[operator]
    assert stores.records.run("r") == known
    stores.records.write(replace(known, state="failed"))  # it is no success of that publication
    with stores.database.writing() as connection:
        mark_published(connection, stores.database, publication)
    found = stores.records.run("r")
    assert found is not None
    assert found.state == "failed"
