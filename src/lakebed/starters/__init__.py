"""What a new lake may start with: files by path below its root."""

from collections.abc import Callable, Mapping

from lakebed.starters.shop import shop

STARTERS: Mapping[str, Callable[[], dict[str, bytes]]] = {"shop": shop}

__all__ = ["STARTERS"]
