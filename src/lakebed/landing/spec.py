"""The settings of a zone, from its `zone.yaml`."""

import codecs
import re
import string
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from lakebed.errors import BadPipeline, FileMissing
from lakebed.names import ZoneName
from lakebed.ports import Files
from lakebed.settings import LARGEST, Document, Settings
from lakebed.types import ColumnType, known_type

ZONE_FILE = "zone.yaml"
_EXAMPLES = "such as yyyy-MM-dd or dd.MM.yyyy HH:mm:ss"

Format = Literal["csv", "json", "parquet"]

# Encodings that both Python and Spark read: Python's name and Spark's.
ENCODINGS = {
    "utf-8": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "cp1252": "windows-1252",
    "utf-16": "UTF-16", "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32",
}  # fmt: skip


def _encoding(given: Any) -> str:
    """Any spelling that Python accepts: `latin-1`, `UTF8`, `windows-1252`."""
    try:
        name = codecs.lookup(str(given).strip()).name.replace("utf-8-sig", "utf-8")
    except LookupError:
        raise ValueError(
            f"there is no encoding {given!r}; known are {', '.join(ENCODINGS)}"
        ) from None
    if name not in ENCODINGS:
        raise ValueError(f"files in {given} cannot be read; known are {', '.join(ENCODINGS)}")
    return name


def _sign(given: Any) -> Any:
    """One character; a tab may be written `\\t`."""
    sign = {"\\t": "\t", "tab": "\t"}.get(given, given) if isinstance(given, str) else given
    if isinstance(sign, str) and (len(sign) != 1 or sign in "\r\n\0" or ord(sign) > 127):
        raise ValueError("it must be one ASCII character, not a line break")
    return sign


def _several(given: Any) -> Any:
    """One string or a list of them; YAML reads some as numbers, and `null` as None."""
    if isinstance(given, list | tuple):
        return tuple(
            "null" if one is None else str(one) if type(one) is int else one for one in given
        )
    return (given,) if isinstance(given, str) else given


def _time_pattern(given: str | None) -> str | None:
    """Spark's pattern; those of other programs are told apart by what they would mean to it."""
    if given is None:
        return None
    if "%" in given:
        raise ValueError(f"{given!r} is Python's spelling; write one {_EXAMPLES}, as Spark does")
    letters = {*re.sub(r"'[^']*'", "", given)} & {*string.ascii_letters}
    if unknown := sorted(letters - {*"GyuQqMLdDEaFhHkKmsSVzOXxZ"}):
        raise ValueError(f"the letter {unknown[0]} means nothing; write one {_EXAMPLES}")
    if "m" in letters and not letters & {*"hHkK"}:
        raise ValueError(f"m are minutes, and months are M; write one {_EXAMPLES}")
    if "D" in letters and letters & {*"ML"}:
        raise ValueError(f"D is the day of a year, and of a month it is d; write one {_EXAMPLES}")
    return given


_TimePattern = Annotated[str | None, AfterValidator(_time_pattern)]
_Sign = Annotated[str, BeforeValidator(_sign)]
_TypeText = Annotated[str, AfterValidator(lambda text: str(known_type(text)))]


_OF_THE_LAKE = dict.fromkeys(Settings.model_fields, "lakebed.yaml")


class ZoneSpec(BaseModel):
    """All settings of a zone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = Field(default="", max_length=5000, description="what lands here")
    owner: str = Field(default="", description="whom to ask about it")
    pattern: str | None = Field(
        default=None, description="glob in the zone: only matching files are read"
    )
    format: Format | None = Field(
        default=None, description="csv, json or parquet; unset: by each file's extension"
    )
    mixed_formats: Literal["union", "refuse"] = Field(
        default="union",
        description="files of several formats: union by column name, or refuse to read the zone",
    )
    expected_schema: dict[str, _TypeText] | None = Field(
        default=None,
        description="column: type; a file is bad if its columns differ or values do not fit",
    )
    types: dict[str, _TypeText] = Field(
        default_factory=dict,
        description="column: type, for columns whose type should not be inferred",
    )
    header: bool = Field(
        default=True,
        description=(
            "the first line of a CSV file names its columns; unless set, a file whose first line"
            " looks like a row is bad"
        ),
    )
    quote: _Sign = Field(default='"', description="around a CSV field that contains a delimiter")
    escape: _Sign = Field(
        default='"',
        description='before a quote inside quotes; `""` is a quote by default, as RFC 4180 says',
    )
    delimiter: _Sign | None = Field(
        default=None, description="between the fields of a CSV file; unset: `,`, and a tab in .tsv"
    )
    encoding: Annotated[str, BeforeValidator(_encoding)] = Field(
        default="utf-8", description="of CSV files; JSON is UTF-8 by its standard"
    )
    nulls: Annotated[tuple[str, ...], BeforeValidator(_several)] = Field(
        default=("",),
        min_length=1,
        validation_alias=AliasChoices("nulls", "null_value"),  # its name when there was only one
        description=(
            'CSV fields that mean NULL: `[NA, N/A, "null", ""]`; an empty field always does'
        ),
    )
    date_format: _TimePattern = Field(
        default=None, description="Spark's pattern; unset: `yyyy-MM-dd`"
    )
    timestamp_format: _TimePattern = Field(
        default=None, description="Spark's pattern; unset: ISO 8601, with T or a space"
    )
    multiline: bool = Field(
        default=False, description="fields of CSV files may contain line breaks (in quotes)"
    )
    infer_types: bool = Field(
        default=True, description="infer types from all values; off: everything is text"
    )
    on_bad_file: Literal["quarantine", "fail"] = Field(
        default="quarantine",
        description="move a file that cannot be read to `_quarantine/`, or fail the run",
    )
    empty_file: Literal["no_rows", "bad"] = Field(
        default="no_rows", description="a file of 0 bytes has no rows, or is bad"
    )
    settle_seconds: float = Field(
        default=1.0,
        ge=0,
        le=600,
        description="a file younger than this is watched before it is read, in case it still grows",
    )
    replaced: Literal["append", "refuse"] | None = Field(
        default=None,
        description=(
            "a file that was replaced after a table with append_only had read it: add its rows to"
            " those of the former file, or fail the run; unset: refuse, but append, with a warning,"
            " in zones that were in use before Lakebed could tell"
        ),
    )
    auto_purge: bool = Field(default=False, description="care removes old processed files")
    processed_max_age_days: int = Field(default=30, ge=1, description="how many days they are kept")

    @field_validator("expected_schema", "types")
    @classmethod
    def _each_once(
        cls, given: dict[str, str] | None, info: ValidationInfo
    ) -> dict[str, str] | None:
        if given is None:
            return None
        folded = [name.casefold() for name in given]
        if twice := next((name for name in given if folded.count(name.casefold()) > 1), None):
            raise ValueError(f"the column {twice} is given twice (case does not matter)")
        if not given and info.field_name == "expected_schema":
            raise ValueError("it names no column")
        if given and info.field_name == "types" and info.data.get("expected_schema"):
            raise ValueError("expected_schema already gives the types")
        return given

    @field_validator("delimiter")
    @classmethod
    def _told_apart(cls, given: str | None, info: ValidationInfo) -> str | None:
        if given in {info.data.get("quote"), info.data.get("escape")} - {None}:
            raise ValueError("it is also the quote or the escape")
        return given

    @property
    def takes_nulls(self) -> bool:
        """Whether further spellings of NULL can be set."""
        return True

    def how_to_set(self, setting: str, value: str) -> str:
        """What to do so that files are read with another setting."""
        return f"set {setting}: {value} in {ZONE_FILE}"

    def how_to_type(self, column: str, type_: str) -> str:
        """What to do so that a column is read with another type."""
        return f"set types: {{{column}: {type_}}} in zone.yaml"

    @property
    def null(self) -> str:
        """The text that Spark's reader treats as NULL: the empty one if possible."""
        return "" if "" in self.nulls else self.nulls[0]

    @property
    def further_nulls(self) -> tuple[str, ...]:
        return tuple(text for text in dict.fromkeys(self.nulls) if text != self.null)

    @property
    def declared_types(self) -> dict[str, ColumnType]:
        """Column types that are set, whatever the values look like."""
        return {name: known_type(text) for name, text in self.types.items()}

    @property
    def expected(self) -> dict[str, ColumnType] | None:
        """The expected columns in order."""
        return (
            {name: known_type(text) for name, text in self.expected_schema.items()}
            if self.expected_schema
            else None
        )


def parse_zone_spec(text: str | None, *, where: str) -> ZoneSpec:
    """The settings in the text of a zone.yaml; without one, the defaults.

    Anything wrong is refused at its line.
    """
    if text is None:
        return ZoneSpec()
    document = Document(text, where=where, refusal=BadPipeline)
    try:
        return ZoneSpec.model_validate(document.tree)
    except ValidationError as error:
        raise document.error_for(error, model=ZoneSpec, elsewhere=_OF_THE_LAKE) from None


def read_zone_spec(files: Files, zone: ZoneName) -> ZoneSpec:
    """The settings in a zone's zone.yaml, if it has one; else the defaults."""
    where = f"{zone.folder}/{ZONE_FILE}"
    try:
        text = files.read(where, length=LARGEST + 1).decode()
    except FileMissing:
        text = None
    except UnicodeDecodeError:
        raise BadPipeline("the text is not UTF-8, or too long.", where=where) from None
    return parse_zone_spec(text, where=where)
