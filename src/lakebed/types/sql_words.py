"""Types by the words of SQL, as configs may write them."""

import re

from lakebed.types.storing import is_storable, read_table_type

# SQL's words for types that Spark names otherwise
_SQL_WORDS = {
    "varchar": "string",
    "char": "string",
    "character varying": "string",
    "double precision": "double",
    "int4": "int",
    "int8": "bigint",
    "float4": "float",
    "float8": "double",
    "hugeint": "decimal(38,0)",
    "bytea": "binary",
    "blob": "binary",
    "timestamptz": "timestamp",
    "timestamp with time zone": "timestamp",
    "datetime": "timestamp_ntz",
}
_WORD = re.compile(r"([A-Za-z_][\w ]*?)\s*(\(.*\))?\s*", re.DOTALL)
_LENGTHS = {"varchar", "char", "character varying"}


def stored_type(text: str) -> str:
    """The type of a table that a word of SQL or Spark names; `ValueError` if there is none."""
    word = _WORD.fullmatch(text.strip())
    name = word[1].casefold() if word else ""
    plain = _SQL_WORDS.get(name, text)
    if name in _SQL_WORDS and word and word[2] and name not in _LENGTHS:
        plain = text
    found = read_table_type(plain)
    if not is_storable(found):
        raise ValueError(f"there is no type {text!r}: write VARCHAR, INTEGER, DOUBLE, DATE …")
    return str(found)
