"""The outcome of sniffing a file."""

from dataclasses import dataclass

from lakebed.landing.formats.file_format import Options
from lakebed.landing.spec import Format
from lakebed.ports import FileInfo


@dataclass(frozen=True)
class SniffedFile:
    """A file that looks readable."""

    file: FileInfo
    format: Format
    options: Options
    gzipped: bool = False
    columns: tuple[str, ...] = ()  # as spelt in the file; unknown for JSON until it is read
    parquet_schema: str = ""  # the schema of a Parquet file, as text
    nanos: tuple[tuple[str, str], ...] = ()  # its columns in nanoseconds, and their types
    rows: int | None = None  # where the file says so
    nulls: tuple[str, ...] = ()  # texts that mean NULL, besides the one in the options


@dataclass(frozen=True)
class BadFile:
    """A file that cannot be read, and why; `rows` if they could be counted."""

    file: FileInfo
    reason: str
    rows: int | None = None
    other_reader: str = ""  # another table that may still read it
