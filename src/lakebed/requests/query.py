"""A request for a query. An option of `lakebed query` is declared here, once."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pydantic import Field

from lakebed.errors import UsageError
from lakebed.requests.request import OptionalText, Request
from lakebed.requests.spelling import Spelling

Engine = Literal["duckdb", "spark"]


class ExplainKeywords(TypedDict, total=False):
    """The options on which depends what a query reads."""

    at: str | int | None
    engine: Engine
    namespace: str | None
    layouts: bool


class QueryKeywords(ExplainKeywords, total=False):
    """The options of queries: the fields of `QueryRequest`, as `lake.query` takes them."""

    limit: int | None
    parameters: Sequence[Any] | Mapping[str, Any] | None
    profile: bool


class QueryRequest(Request):
    """A query as the caller wrote it, and how it is to be answered."""

    sql: Annotated[str, Spelling(offered=False)] = Field(
        description="One SELECT in the engine's SQL."
    )
    at: Annotated[OptionalText, Spelling(metavar="POINT")] = Field(
        None, description="A snapshot, tag, branch, run or time. Default: now."
    )
    engine: Engine = Field("duckdb", description="duckdb (without a JVM) or spark.")
    limit: int | None = Field(None, ge=0, description="At most this many rows.")
    namespace: Annotated[str | None, Spelling("-n")] = Field(
        None, description="Where to look for short names first."
    )
    parameters: Annotated[Sequence[Any] | Mapping[str, Any] | None, Spelling(offered=False)] = (
        Field(None, description="Values for ? and $name in the SQL.")
    )
    profile: bool = Field(False, description="Show how long each step took.")
    layouts: Annotated[
        bool,
        Spelling(long="--no-layouts", help="Read tables themselves, never their layouts."),
    ] = Field(True, description="Read tables through their layouts where that is cheaper.")

    def __init__(self, sql: str, **options: Unpack[QueryKeywords]) -> None:
        super().__init__(sql=sql, **options)

    @classmethod
    def of(cls, sql: "str | QueryRequest", **options: Unpack[QueryKeywords]) -> "QueryRequest":
        """The request itself if it is given, otherwise one with this SQL and these options."""
        if isinstance(sql, str):
            return cls(sql, **options)
        if options:
            raise UsageError(
                "a QueryRequest is given alone, without options.",
                next="Give them to the QueryRequest.",
            )
        return sql

    @property
    def named_parameters(self) -> Mapping[str, Any]:
        """The parameters by their names in the text; positional ones are numbered from 1."""
        if isinstance(self.parameters, Mapping):
            return self.parameters
        return {str(number): value for number, value in enumerate(self.parameters or (), 1)}
