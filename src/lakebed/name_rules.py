"""Which names things may have: docs/reference.md lists the rules."""

import re
from dataclasses import dataclass, replace
from functools import cached_property

from lakebed.errors import BadName

# without the underscore where a catalog takes none
HIDDEN_NAME = r"_?(mv|run|stage|replay|dropped)_[0-9a-f]{32}"


@dataclass(frozen=True)
class NameRule:
    """Which names things of some kinds may have."""

    kinds: str
    pattern: str
    form: str  # the pattern in words
    longest: int | None = None
    reserved: tuple[str, ...] = ()  # patterns
    why_reserved: str = "names of this form are Lakebed's own hidden tables"

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        return re.compile(self.pattern), re.compile("|".join(self.reserved) or "(?!)")

    def require(self, kind: str, name: str) -> str:
        """The name itself; raises `BadName` if a `kind` cannot have it."""
        pattern, reserved = self._patterns
        if reserved.fullmatch(name):
            raise BadName(kind, name, self.why_reserved)
        if not pattern.fullmatch(name):
            raise BadName(kind, name, self.form)
        if self.longest and len(name) > self.longest:
            raise BadName(kind, name, f"it is longer than {self.longest} characters")
        return name


PLAIN_NAMES = NameRule(
    "namespace, layer, pipeline, zone",
    r"[a-z][a-z0-9_-]*",
    "a name begins with a-z and continues with a-z, 0-9, '_' or '-'",
    longest=128,
    reserved=("_.*", "branch_.*", "tag_.*", "system", HIDDEN_NAME),
    why_reserved=(
        "'system', names beginning with '_', 'branch_' or 'tag_', and those of hidden tables are"
        " reserved"
    ),
)
ASSET_NAMES = NameRule(
    "asset key segment",
    r"[A-Za-z0-9_.-]+",
    "it may contain only letters, digits, '_', '-' and '.'",
    longest=255,  # the width of the catalog's columns
)
TABLE_NAMES = replace(ASSET_NAMES, kinds="table that no pipeline makes", reserved=(HIDDEN_NAME,))
REF_NAMES = NameRule(
    "tag, branch",
    r"[A-Za-z][A-Za-z0-9_.-]*",
    "it begins with a letter and continues with letters, digits, '_', '-' and '.'",
    longest=128,
    reserved=("main", "branch_.*", "tag_.*", HIDDEN_NAME),
    why_reserved="the name is reserved",
)
# with which no new namespace begins: in DuckDB a table's name would need quotes
WORDS_OF_SQL = {
    "all", "analyse", "analyze", "and", "anti", "any", "array", "as", "asc", "asof", "asymmetric",
    "at", "authorization", "binary", "both", "by", "case", "cast", "check", "collate",
    "collation", "column", "concurrently", "constraint", "create", "cross", "default",
    "deferrable", "desc", "describe", "distinct", "do", "else", "end", "except", "false", "fetch",
    "for", "foreign", "freeze", "from", "full", "glob", "group", "having", "ilike", "in",
    "initially", "inner", "intersect", "into", "is", "isnull", "join", "lambda", "lateral",
    "leading", "left", "like", "limit", "natural", "not", "notnull", "null", "offset", "on",
    "only", "or", "order", "outer", "overlaps", "pivot", "pivot_longer", "pivot_wider", "placing",
    "positional", "primary", "qualify", "references", "returning", "right", "select", "semi",
    "show", "similar", "some", "summarize", "symmetric", "table", "tablesample", "then", "to",
    "trailing", "true", "union", "unique", "unpack", "unpivot", "using", "variadic", "verbose",
    "when", "where", "window", "with",
}  # fmt: skip
