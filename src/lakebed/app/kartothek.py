"""From settings to Kartothek datasets, of a lake or without one."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from lakebed.engines.files.cloud import open_location
from lakebed.errors import NoLake
from lakebed.ports import Files
from lakebed.settings import (
    FilesSettings,
    KartothekSettings,
    files_settings,
    kartothek_settings,
)

if TYPE_CHECKING:
    from lakebed.app.lake import Lake
    from lakebed.kartothek.exchange.source import TableSource
    from lakebed.kartothek.lake_noun import LakeDatasets
    from lakebed.kartothek.noun import DatasetQuery, Datasets
    from lakebed.query.results.result import QueryResult

_ZONE = "UTC"


def open_datasets(environment: Mapping[str, str] | None = None) -> "Datasets":
    """Kartothek datasets without a lake: variables alone say how locations are reached."""
    from lakebed.kartothek.noun import Datasets  # late: commands must not load Arrow

    given = os.environ if environment is None else environment
    opener = location_opener(files_settings(given), kartothek_settings(given))
    return Datasets(opener, _query_alone)


def lake_datasets(lake: "Lake") -> "LakeDatasets":
    """Kartothek datasets as a lake's settings say; the engines are those of its queries."""
    from lakebed.engines.spark.kartothek import SparkExecutors
    from lakebed.kartothek.lake_noun import LakeDatasets, LakeExchange

    settings = lake.settings

    def run(query: "DatasetQuery") -> "QueryResult":
        engines = lake.queries.engines
        return run_dataset_query(
            query, duckdb=engines.duckdb, frames=engines.frames, timezone=settings.timezone
        )

    exchange = LakeExchange(
        partial(_exported, lake), lake.write, SparkExecutors(lambda: lake.spark)
    )
    return LakeDatasets(location_opener(settings.files, settings.kartothek), run, exchange)


@contextmanager
def _exported(lake: "Lake", name: str, follower: str) -> Iterator["TableSource"]:
    """A table at its present snapshot, protected for the follower."""
    from lakebed.engines.iceberg import file_properties
    from lakebed.engines.iceberg.scan.table_files import IcebergTableFiles
    from lakebed.kartothek.exchange.following import exported_snapshot

    table, pointer, metadata = lake.tables.look_up(name)
    head = metadata.head()
    snapshot = head.id if head else None
    with exported_snapshot(lake.stores.events, follower, table, snapshot):
        properties = file_properties(lake.settings.files)
        yield IcebergTableFiles(table, pointer.location, snapshot, properties)


def location_opener(files: FilesSettings, own: KartothekSettings) -> Callable[[str], Files]:
    """Opens locations; it can be sent to executors."""
    return partial(open_location, files=files, settings=own)


def run_dataset_query(
    query: "DatasetQuery", *, duckdb: Any, frames: Any, timezone: str
) -> "QueryResult":
    """The answer to SQL over a dataset, computed as it is read."""
    from lakebed.engines.duckdb.datasets import run_over_dataset
    from lakebed.query.planning.plan import QueryPlan
    from lakebed.query.results.result import QueryResult
    from lakebed.requests import QueryRequest

    run = partial(run_over_dataset, duckdb, query, timezone=timezone)
    return QueryResult(
        QueryPlan(query.sql, query.sql, (), tree={}),
        run(),
        run,
        request=QueryRequest(query.sql, limit=query.limit),
        frames=frames,
        on_end=lambda *_: None,
    )


def _query_alone(query: "DatasetQuery") -> "QueryResult":
    from lakebed.engines.duckdb import DuckEngine
    from lakebed.engines.frames import EngineFrames

    duckdb = DuckEngine(timezone=_ZONE, inspect=_refuse, cache=0)
    frames = EngineFrames(duckdb, _refuse)
    return run_dataset_query(query, duckdb=duckdb, frames=frames, timezone=_ZONE)


def _refuse(*_: object) -> NoReturn:
    raise NoLake(str(Path.cwd()))
