"""Polars: lazy frames over pinned tables."""

from lakebed.engines.polars.frames import lazy_frame

__all__ = ["lazy_frame"]
