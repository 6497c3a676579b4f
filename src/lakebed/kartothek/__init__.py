"""Kartothek datasets: Parquet files, a metadata file that each commit replaces, and inverted
indices. plateau reads them, appends to them and indexes them too.

Every function takes the `Files` of a location, in which datasets lie side by side.
"""

from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.format.names import MetadataFormat
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.history.versions import DatasetVersion, state_at, versions
from lakebed.kartothek.lifecycle.building import build_indices
from lakebed.kartothek.lifecycle.copying import copy
from lakebed.kartothek.lifecycle.deleting import datasets, delete
from lakebed.kartothek.lifecycle.findings import DatasetFinding
from lakebed.kartothek.lifecycle.garbage import collect_garbage
from lakebed.kartothek.lifecycle.statistics import PartitionStatistics, partition_statistics
from lakebed.kartothek.lifecycle.verifying import verify
from lakebed.kartothek.noun import Datasets
from lakebed.kartothek.reading.dispatch import plan_groups
from lakebed.kartothek.reading.read import (
    ReadPlan,
    plan_read,
    read_partitions,
    read_table,
    to_pandas,
)
from lakebed.kartothek.reading.states import load_state
from lakebed.kartothek.writing.changing import commit_rows, update
from lakebed.kartothek.writing.creating import commit_new, create, store
from lakebed.kartothek.writing.options import DatasetOptions
from lakebed.kartothek.writing.partition_files import PartitionSpec, WrittenPartition
from lakebed.kartothek.writing.rows import WrittenRows, combined_rows, write_rows

__all__ = [
    "DatasetFinding",
    "DatasetOptions",
    "DatasetState",
    "DatasetVersion",
    "Datasets",
    "MetadataFormat",
    "PartitionSpec",
    "PartitionStatistics",
    "ReadPlan",
    "StringProfile",
    "WrittenPartition",
    "WrittenRows",
    "build_indices",
    "collect_garbage",
    "combined_rows",
    "commit_new",
    "commit_rows",
    "copy",
    "create",
    "datasets",
    "delete",
    "load_state",
    "partition_statistics",
    "plan_groups",
    "plan_read",
    "read_partitions",
    "read_table",
    "state_at",
    "store",
    "to_pandas",
    "update",
    "verify",
    "versions",
    "write_rows",
]
