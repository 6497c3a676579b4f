"""Jinja for pipelines and gates: what a file says about itself, what its template reads, and the SQL it gives."""

from lakebed.templates.annotations import Annotation, read_annotations
from lakebed.templates.declare import Call, Declared, declared
from lakebed.templates.literal import escaped, literal
from lakebed.templates.render import Rendered, TemplateValues, render
from lakebed.templates.template_names import ALLOWED

__all__ = [
    "ALLOWED",
    "Annotation",
    "Call",
    "Declared",
    "Rendered",
    "TemplateValues",
    "declared",
    "escaped",
    "literal",
    "read_annotations",
    "render",
]
