"""Jinja for pipelines and gates: a file's annotations, what its template reads, and the SQL it
renders to.
"""

from lakebed.templates.annotations import (
    Annotation,
    Comment,
    misplaced_annotation,
    read_annotations,
)
from lakebed.templates.declarations import Declarations, TemplateRead, read_declarations
from lakebed.templates.literal import escaped, literal
from lakebed.templates.render import Rendered, TemplateValues, render
from lakebed.templates.sql_value import STAND_IN, SqlValue, sql_value
from lakebed.templates.template_names import RANGE

__all__ = [
    "RANGE",
    "STAND_IN",
    "Annotation",
    "Comment",
    "Declarations",
    "Rendered",
    "SqlValue",
    "TemplateRead",
    "TemplateValues",
    "escaped",
    "literal",
    "misplaced_annotation",
    "read_annotations",
    "read_declarations",
    "render",
    "sql_value",
]
