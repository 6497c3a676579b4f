"""Stand-ins for a lake's stores that live in memory, for tests of pipelines, plug-ins and Lakebed
itself.

They pass the same contract suites as the real stores (`tests/contracts`).
"""

from lakebed.testing.care_log import MemoryCareLog
from lakebed.testing.catalog import MemoryCatalog
from lakebed.testing.events import MemoryEvents
from lakebed.testing.files import MemoryFiles
from lakebed.testing.identity import MemoryIdentity
from lakebed.testing.leases import MemoryLeases
from lakebed.testing.records import MemoryRecords
from lakebed.testing.releases import MemoryReleases

__all__ = [
    "MemoryCareLog",
    "MemoryCatalog",
    "MemoryEvents",
    "MemoryFiles",
    "MemoryIdentity",
    "MemoryLeases",
    "MemoryRecords",
    "MemoryReleases",
]
