"""DuckDB's extensions come as wheels: nothing is downloaded, nothing is written to the
home folder.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lakebed.engines.duckdb.sql.types import text
from lakebed.errors import MissingPart


def load(connection: Any, *names: str) -> None:
    """Load extensions into a connection."""
    for name in names:
        connection.execute(load_statement(name))


def load_statement(name: str) -> str:
    """The statement that loads an extension."""
    return f"LOAD {text(str(extension(name)))}"


def extension(name: str) -> Path:
    """The file of an extension."""
    import duckdb

    found = find_spec(f"duckdb_extension_{name}")
    for folder in (found.submodule_search_locations or ()) if found else ():
        file = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if file.is_file():
            return file
    wheel = f"duckdb-extension-{name}=={duckdb.__version__}"
    raise MissingPart(
        f"DuckDB's extension {name} is not installed.", next=f"Install it: pip install {wheel}"
    )
