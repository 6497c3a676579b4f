"""Functions used as tables: some compute, some read files, and some read the tables that their text
names.
"""

import re
from collections.abc import Iterator

from lakebed.errors import BadQuery
from lakebed.query.parsing.functions import FILE_READERS, NAME_READERS, TABLE_FUNCTIONS
from lakebed.query.parsing.parse_nodes import Json, TableRead, dicts, folded
from lakebed.query.parsing.query_text import named_parts

_FILE = re.compile(
    r"/|\.(parquet|csv|tsv|json|jsonl|ndjson|db|duckdb)(\.gz|\.zst)?$", re.IGNORECASE
)


def table_function_names(statement: Json) -> Iterator[str]:
    """The functions that are used as tables."""
    return (_name(call) for call in _calls(statement))


def calls_readers(statement: Json | None) -> bool:
    """Whether a function may read more than the named tables, such as files."""
    return any(_name(call) not in TABLE_FUNCTIONS for call in _calls(statement))


def hides_reads(statement: Json) -> bool:
    """Whether a function may read a table or a query of WITH that is not named in the FROM."""
    return any(_name(call) not in TABLE_FUNCTIONS | FILE_READERS for call in _calls(statement))


def reads_by_text(statement: Json) -> Iterator[TableRead]:
    """The tables that functions name in text, except queries of WITH and files."""
    named = {
        folded(entry["key"])
        for item in dicts(statement)
        for entry in (item.get("cte_map") or {}).get("map") or ()
    }
    for call in _calls(statement):
        if (name := _name(call)) in NAME_READERS:
            for one in _names_given(call):
                text = _text(one)
                parts = (text and named_parts(text)) or tuple(one.get("column_names") or ())
                if not parts:
                    raise BadQuery(
                        f"{name} takes the names of tables as texts here.",
                        next="Write the table's name after FROM.",
                    )
                if not (text and (folded(text) in named or _FILE.search(text))):
                    yield TableRead(parts, one["query_location"], whole=True, text=True)


def _calls(statement: Json | None) -> Iterator[Json]:
    return (item["function"] for item in dicts(statement) if item.get("type") == "TABLE_FUNCTION")


def _name(call: Json) -> str:
    return str(call.get("function_name", "")).casefold()


def _names_given(call: Json) -> list[Json]:
    """The arguments that name tables, alone or in a list."""
    first: list[Json] = call["children"][:1]
    return (
        first[0]["children"] if first and first[0].get("function_name") == "list_value" else first
    )


def _text(argument: Json) -> str:
    """The text of a literal; empty for anything else."""
    value = argument.get("value") or {}
    return (
        str(value.get("value"))
        if argument["class"] == "CONSTANT" and value["type"]["id"] == "VARCHAR"
        else ""
    )
