"""Arrow: the types of tables, and rows on their way."""

from lakebed.engines.arrow.types import arrow_schema, as_schema, gathered, is_narrow

__all__ = ["arrow_schema", "as_schema", "gathered", "is_narrow"]
