"""Locations outside a lake: folders, S3, Azure and Google."""

from lakebed.engines.files.cloud.locations import open_location

__all__ = ["open_location"]
