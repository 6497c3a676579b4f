"""Rows of a file on this machine, for a manual write."""

from pathlib import Path
from typing import Any

from lakebed.errors import UsageError


def read_rows(file: Path) -> Any:
    """The rows of a Parquet, CSV or JSON-lines file as Arrow.

    A Parquet file is opened, and read later.
    """
    import pyarrow.csv
    import pyarrow.dataset
    import pyarrow.json

    readers = {
        ".parquet": pyarrow.dataset.dataset,
        ".csv": pyarrow.csv.read_csv,
        ".json": pyarrow.json.read_json,
        ".ndjson": pyarrow.json.read_json,
    }
    reader = readers.get(file.suffix.casefold())
    if reader is None:
        what = f"{file.name} is not one of these: {', '.join(readers)}."
        raise UsageError(what, next="Land other files in a zone: lakebed zone put")
    try:
        return reader(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
