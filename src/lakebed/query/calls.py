"""Functions that stand in place of tables: some compute, some read files, and some read whatever their text says."""

import re
from collections.abc import Iterator

from lakebed.errors import BadQuery
from lakebed.query.functions import FILE_READERS, TABLE_FUNCTIONS
from lakebed.query.parts import Json, dicts, folded

_FILE = re.compile(r"/|\.(parquet|csv|tsv|json|jsonl|ndjson|db|duckdb)(\.gz|\.zst)?$", re.IGNORECASE)


def calls_readers(statement: Json | None) -> bool:
    """Whether something is called that may read more than the tables that are named, such as files."""
    return any(_name(call) not in TABLE_FUNCTIONS for call in _calls(statement))


def hides_reads(statement: Json) -> bool:
    """Whether something is called that may read a table or a query of WITH without naming it in the FROM."""
    return any(_name(call) not in TABLE_FUNCTIONS | FILE_READERS for call in _calls(statement))


def refuse_hidden_tables(statement: Json) -> None:
    """`query_table` reads queries of WITH and files; a table of the lake is planned only where it is named."""
    named = {folded(entry["key"]) for item in dicts(statement) for entry in (item.get("cte_map") or {}).get("map") or ()}
    for call in _calls(statement):
        if _name(call) == "query_table" and not all(folded(text) in named or _FILE.search(text) for text in _texts(call)):
            raise BadQuery(
                "query_table reads queries of WITH and files here, given as texts.", next="Write the table's name after FROM."
            )


def _calls(statement: Json | None) -> Iterator[Json]:
    return (item["function"] for item in dicts(statement) if item.get("type") == "TABLE_FUNCTION")


def _name(call: Json) -> str:
    return str(call.get("function_name", "")).casefold()


def _texts(call: Json) -> Iterator[str]:
    """The names that are given, by themselves or in a list; something that is no name for all that is not a text."""
    given = call["children"][:1]
    for one in given[0]["children"] if given and given[0].get("function_name") == "list_value" else given:
        value = one.get("value") or {}
        yield str(value.get("value")) if one["class"] == "CONSTANT" and value["type"]["id"] == "VARCHAR" else ""
