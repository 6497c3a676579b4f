"""Requests: what a caller may ask of a lake, with every option declared once.

The command line, Python's keywords, stored arguments and `lakebed retry` are made from them.
"""

from lakebed.requests.query import Engine, ExplainKeywords, QueryKeywords, QueryRequest
from lakebed.requests.request import Request
from lakebed.requests.run import (
    CompileKeywords,
    GateKeywords,
    PlanKeywords,
    RangeBound,
    RetryKeywords,
    RunKeywords,
    RunRequest,
    SelectKeywords,
    SqlKeywords,
)
from lakebed.requests.spelling import Spelling

__all__ = [
    "CompileKeywords",
    "Engine",
    "ExplainKeywords",
    "GateKeywords",
    "PlanKeywords",
    "QueryKeywords",
    "QueryRequest",
    "RangeBound",
    "Request",
    "RetryKeywords",
    "RunKeywords",
    "RunRequest",
    "SelectKeywords",
    "Spelling",
    "SqlKeywords",
]
