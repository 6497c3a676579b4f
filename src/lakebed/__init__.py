"""Lakebed: a lakehouse kept in one folder that grows to a cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakebed.app import Lake, open_datasets
    from lakebed.app import create_lake as create
    from lakebed.app import open_lake as open  # noqa: A004 - lakebed.open() is the front door
    from lakebed.errors import LakebedError
    from lakebed.names import AssetKey, TableName, ZoneName
    from lakebed.requests import QueryRequest, RunRequest

__all__ = [
    "AssetKey",
    "Lake",
    "LakebedError",
    "QueryRequest",
    "RunRequest",
    "TableName",
    "ZoneName",
    "create",
    "open",
    "open_datasets",
]

_HOMES = {
    "AssetKey": ("lakebed.names", "AssetKey"),
    "Lake": ("lakebed.app", "Lake"),
    "LakebedError": ("lakebed.errors", "LakebedError"),
    "QueryRequest": ("lakebed.requests", "QueryRequest"),
    "RunRequest": ("lakebed.requests", "RunRequest"),
    "TableName": ("lakebed.names", "TableName"),
    "ZoneName": ("lakebed.names", "ZoneName"),
    "create": ("lakebed.app", "create_lake"),
    "open": ("lakebed.app", "open_lake"),
    "open_datasets": ("lakebed.app", "open_datasets"),
}


def __getattr__(name: str) -> Any:
    """Re-export at first use: `lakebed --help` must not wait for the app."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lakebed' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
