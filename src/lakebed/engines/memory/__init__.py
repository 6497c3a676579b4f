"""Fakes that keep every promise of the ports, in memory."""

from lakebed.engines.memory.catalog import MemoryCatalog, MemoryLeases
from lakebed.engines.memory.files import MemoryFiles
from lakebed.engines.memory.releases import MemoryReleases

__all__ = ["MemoryCatalog", "MemoryFiles", "MemoryLeases", "MemoryReleases"]
