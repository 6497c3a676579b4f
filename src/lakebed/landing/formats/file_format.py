"""The format of a file by its name, and the options to read it with."""

from dataclasses import dataclass

from lakebed.landing.spec import ENCODINGS, ZONE_FILE, Format, ZoneSpec

_BY_EXTENSION: dict[str, Format] = {
    ".csv": "csv", ".tsv": "csv", ".json": "json", ".ndjson": "json", ".jsonl": "json",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
_OTHER_COMPRESSION = (".bz2", ".zst", ".xz", ".lz4", ".snappy", ".deflate", ".zip", ".7z")
_NOT_READ = {
    **dict.fromkeys(
        (".xlsx", ".xls", ".xlsm", ".xlsb"), "an Excel workbook: save its sheets as CSV"
    ),
    ".ods": "a spreadsheet: save its sheets as CSV",
    ".avro": "an Avro file: convert it to Parquet",
    ".orc": "an ORC file: convert it to Parquet",
    **dict.fromkeys((".arrow", ".feather"), "an Arrow file: convert it to Parquet"),
    ".xml": "XML: convert it to JSON",
    **dict.fromkeys((".htm", ".html"), "a web page"),
    ".pdf": "a PDF document",
}
# in other encodings a line break takes several bytes
_LINES_BY_BYTES = {"utf-8", "ascii", "iso8859-1", "cp1252"}

Options = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FileFormat:
    """A format, and whether the file is gzipped."""

    format: Format
    gzipped: bool
    tabbed: bool = False


def format_of(name: str, spec: ZoneSpec) -> FileFormat | str:
    """The format of a file, or why it has none."""
    lower = name.casefold()
    plain = lower.removesuffix(".gz")
    if (codec := _extension(plain)) in _OTHER_COMPRESSION:
        return f"it is compressed as {codec}: only .gz is read"
    found = spec.format or _BY_EXTENSION.get(_extension(plain))
    if found is None:
        return _unread(name, plain, spec)
    if found == "parquet" and plain != lower:
        return "a Parquet file is compressed inside: .gz around it cannot be read"
    return FileFormat(found, plain != lower, plain.endswith(".tsv"))


def _unread(name: str, plain: str, spec: ZoneSpec) -> str:
    if what := _NOT_READ.get(_extension(plain)):
        return f"it is {what}"
    advice = (
        f"settings belong in {ZONE_FILE}, not {name}"
        if plain == "zone.yml"
        else f"to have it read, {spec.how_to_set('format', 'csv')} (or json, parquet)"
    )
    return f"its name has no known format ({', '.join(_BY_EXTENSION)}); {advice}"


def encoding_of(kind: FileFormat, spec: ZoneSpec) -> str:
    """Python's name of the encoding of a text file."""
    return spec.encoding if kind.format == "csv" else "utf-8"


def _extension(name: str) -> str:
    stem, dot, last = name.rpartition(".")
    return f".{last}" if dot and stem else ""


def options_of(kind: FileFormat, spec: ZoneSpec, *, multiline: bool = False) -> Options:
    """Spark's reader options for files of this format; nothing may be skipped silently."""
    options = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
    if kind.format == "parquet":
        return tuple(options.items())
    # Without the fallback, a date followed by a time is an error, not a date.
    options |= {
        "dateFormat": spec.date_format or "yyyy-MM-dd",
        "enableDateTimeParsingFallback": "false",
    }
    options |= {"timestampFormat": spec.timestamp_format} if spec.timestamp_format else {}
    options |= {"multiLine": str(multiline or _needs_whole_file(kind, spec)).lower()}
    if kind.format == "json":
        return tuple(
            (options | ({} if spec.infer_types else {"primitivesAsString": "true"})).items()
        )
    options |= {
        "header": str(spec.header).lower(),
        "sep": delimiter_of(kind, spec),
        "quote": spec.quote,
        "escape": spec.escape,
        "encoding": ENCODINGS[spec.encoding],
        "nullValue": spec.null,
    }
    return tuple(options.items())


def delimiter_of(kind: FileFormat, spec: ZoneSpec) -> str:
    return spec.delimiter or ("\t" if kind.tabbed else ",")


def _needs_whole_file(kind: FileFormat, spec: ZoneSpec) -> bool:
    return kind.format == "csv" and (spec.multiline or spec.encoding not in _LINES_BY_BYTES)
