"""Lakebed: a lakehouse kept in one folder that grows to a cluster."""

from lakebed.app import Lake
from lakebed.app import create_lake as create
from lakebed.app import open_lake as open  # noqa: A004 - lakebed.open() is the front door
from lakebed.errors import LakebedError
from lakebed.names import AssetKey, TableName, ZoneName

__all__ = ["AssetKey", "Lake", "LakebedError", "TableName", "ZoneName", "create", "open"]
