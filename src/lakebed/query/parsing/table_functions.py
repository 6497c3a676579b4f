"""Functions that stand in place of tables: some compute, some read files, and some read whatever their text says."""

import re
from collections.abc import Iterator

from lakebed.errors import BadQuery
from lakebed.query.parsing.functions import FILE_READERS, NAME_READERS, TABLE_FUNCTIONS
from lakebed.query.parsing.parse_nodes import Json, TableRead, dicts, folded
from lakebed.query.parsing.query_text import named_parts

_FILE = re.compile(r"/|\.(parquet|csv|tsv|json|jsonl|ndjson|db|duckdb)(\.gz|\.zst)?$", re.IGNORECASE)


def table_function_names(statement: Json) -> Iterator[str]:
    """The functions that are called in place of tables."""
    return (_name(call) for call in _calls(statement))


def calls_readers(statement: Json | None) -> bool:
    """Whether something is called that may read more than the tables that are named, such as files."""
    return any(_name(call) not in TABLE_FUNCTIONS for call in _calls(statement))


def hides_reads(statement: Json) -> bool:
    """Whether something is called that may read a table or a query of WITH without naming it in the FROM."""
    return any(_name(call) not in TABLE_FUNCTIONS | FILE_READERS for call in _calls(statement))


def reads_by_text(statement: Json) -> Iterator[TableRead]:
    """The tables that a function is given by name. Queries of WITH and files are none of the lake's."""
    named = {folded(entry["key"]) for item in dicts(statement) for entry in (item.get("cte_map") or {}).get("map") or ()}
    for call in _calls(statement):
        if (name := _name(call)) in NAME_READERS:
            for one in _names_given(call):
                text = _text(one)
                parts = (text and named_parts(text)) or tuple(one.get("column_names") or ())
                if not parts:
                    raise BadQuery(f"{name} takes the names of tables as texts here.", next="Write the table's name after FROM.")
                if not (text and (folded(text) in named or _FILE.search(text))):
                    yield TableRead(parts, one["query_location"], whole=True, text=True)


def _calls(statement: Json | None) -> Iterator[Json]:
    return (item["function"] for item in dicts(statement) if item.get("type") == "TABLE_FUNCTION")


def _name(call: Json) -> str:
    return str(call.get("function_name", "")).casefold()


def _names_given(call: Json) -> list[Json]:
    """The names that are given, by themselves or in a list."""
    first: list[Json] = call["children"][:1]
    return first[0]["children"] if first and first[0].get("function_name") == "list_value" else first


def _text(given: Json) -> str:
    """The text that is given; empty for something else."""
    value = given.get("value") or {}
    return str(value.get("value")) if given["class"] == "CONSTANT" and value["type"]["id"] == "VARCHAR" else ""
