"""From a pipeline's folder to a `PipelineSpec`, or to an error that shows the line."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from lakebed.errors import BadName, BadPipeline, near, suggestion
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.configure import Configured, configure
from lakebed.pipelines.definition.naming import refs_of, tables_of_folders
from lakebed.pipelines.definition.python_inputs import read_python_inputs
from lakebed.pipelines.definition.spec import Kind, PipelineSpec, Style, ZoneRef
from lakebed.ports import Files
from lakebed.quality import Gate, column_gates, read_gate
from lakebed.settings import DATA, Document
from lakebed.tables import TEMPLATE_WORDS
from lakebed.templates import Declarations, TemplateRead, read_annotations, read_declarations

_CONFIG = "config.yaml"
_CODE: dict[str, Kind] = {"pipeline.sql": "sql", "pipeline.py": "python"}
_SOURCES: dict[str, Kind] = {**_CODE, _CONFIG: "source"}  # in the order in which they count
_GATES = "tests/quality/"


def read_drafts(files: Files) -> dict[TableName, PipelineSpec]:
    """The draft of every pipeline, by its table."""
    folders = read_folders(files)
    known = tables_of_folders(folders)
    specs = (
        read_pipeline(folder, decode_files(folder, contents), known=known)
        for folder, contents in folders.items()
    )
    return {spec.table: spec for spec in specs}


def read_folders(files: Files) -> dict[str, dict[str, bytes]]:
    """The folders of all pipelines, with their files."""
    return {
        folder: _contents(files, folder, paths) for folder, paths in list_folders(files).items()
    }


def read_folder(files: Files, folder: str) -> dict[str, bytes]:
    """The files of one pipeline, by their paths in its folder; empty if there is no folder."""
    inside = (info.path.removeprefix(f"{folder}/") for info in files.list(folder))
    return _contents(files, folder, [path for path in inside if is_pipeline_file(path)])


def list_folders(files: Files) -> dict[str, list[str]]:
    """The folders `{namespace}/pipelines/{layer}/{name}`, with the paths of their files.

    Reads no file.
    """
    found: dict[str, list[str]] = {}
    for namespace in files.folders():
        if namespace == DATA or namespace.startswith((".", "_")):
            continue
        for info in files.list(f"{namespace}/pipelines"):
            *folder, inside = [*info.path.split("/", 4), ""][:5]
            if inside and is_pipeline_file(inside):
                found.setdefault("/".join(folder), []).append(inside)
    return found


def is_pipeline_file(path: str) -> bool:
    """Whether a file belongs to the pipeline, rather than to an editor, Git or Python."""
    return not any(part.startswith(".") or part == "__pycache__" for part in path.split("/"))


def is_source(path: str) -> bool:
    """Whether a folder with this file holds a pipeline. One with settings alone may: they may have
    a source.
    """
    return path in _SOURCES


def _contents(files: Files, folder: str, paths: Iterable[str]) -> dict[str, bytes]:
    return {path: files.read(f"{folder}/{path}") for path in paths}


def decode_files(folder: str, contents: Mapping[str, bytes]) -> dict[str, str]:
    """A pipeline's files as text. A binary file is replaced by its digest."""
    for path, data in contents.items():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if path.endswith((".sql", ".py", ".yaml", ".yml")):
                what = f"this is not UTF-8 text: {error.reason} at byte {error.start}."
                raise BadPipeline(what, where=f"{folder}/{path}") from None
    return {path: _readable(data) for path, data in contents.items()}


def _readable(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return hashlib.sha256(data).hexdigest()  # only needed to tell whether it changed


def read_pipeline(
    folder: str,
    contents: Mapping[str, str],
    *,
    version: int | None = None,
    known: Collection[TableName] = (),
) -> PipelineSpec:
    """Read the pipeline of a folder `{namespace}/pipelines/{layer}/{name}`, from its draft or from
    a version.

    `known` are the tables that pipelines make. A ref may name one of them by its last part alone.
    """
    namespace, _, layer, name = folder.split("/")
    try:
        table = TableName.of_pipeline(namespace, layer, name)
    except BadName as error:
        raise BadPipeline(error.what, where=folder, next=error.next) from None
    file = _source_file(folder, contents)
    kind, source, where = _SOURCES[file], contents[file], f"{folder}/{file}"
    configured = _configured(contents, kind, folder, where)
    _require_one_source(configured, kind, folder, contents)
    gates = _gates(folder, contents, configured)
    style, reads, zones, names = _reads(kind, source, where)
    asked = ((_declarations(gate.source, gate.where).refs, gate.where) for gate in gates)
    gate_refs = tuple(
        ref for calls, there in asked for ref in refs_of(calls, there, namespace, known)
    )
    spec = PipelineSpec(
        table=table,
        folder=folder,
        file=where,
        kind=kind,
        style=style,
        source=source,
        config=configured.config,
        strategy=configured.strategy,
        gates=gates,
        refs=refs_of(reads, where, namespace, known),
        gate_refs=gate_refs,
        zones=tuple(map(partial(_zone, where=where, namespace=namespace), zones)),
        names=names,
        digest=text_digest(contents),
        version=version,
        batches=configured.batches,
        layouts_key=configured.layouts_key,
    )
    _require_consistent(spec)
    return spec


def _source_file(folder: str, contents: Iterable[str]) -> str:
    there = [file for file in _SOURCES if file in contents]
    if len(there) > 1 and there[1] in _CODE:
        raise BadPipeline(
            "there are both pipeline.sql and pipeline.py.", where=folder, next="Remove one of them."
        )
    if not there:
        raise _no_source(folder, contents)
    return there[0]


def _no_source(folder: str, contents: Iterable[str]) -> BadPipeline:
    others = [file for file in contents if file not in _SOURCES]
    close = near("pipeline.sql", others) + near("pipeline.py", others)
    return BadPipeline(
        "there is neither pipeline.sql nor pipeline.py, nor a source in config.yaml.",
        where=folder,
        next=f"Rename {close[0]}?" if close else "Write one of them.",
    )


def _configured(contents: Mapping[str, str], kind: Kind, folder: str, where: str) -> Configured:
    for wrong in ("config.yml", "pipeline.yaml", "pipeline.yml"):
        if wrong in contents:
            raise BadPipeline(
                f"settings are in {_CONFIG}, not in {wrong}.",
                where=f"{folder}/{wrong}",
                next="Rename the file.",
            )
    document = Document(contents.get(_CONFIG, ""), where=f"{folder}/{_CONFIG}", refusal=BadPipeline)
    if kind == "source":
        return configure(document, {}, source=where)
    file = "pipeline.sql" if kind == "sql" else "pipeline.py"
    annotations = read_annotations(
        contents[file], comment="--" if kind == "sql" else "#", where=where
    )
    return configure(document, annotations, source=where)


def _require_one_source(
    configured: Configured, kind: Kind, folder: str, contents: Iterable[str]
) -> None:
    """Raise unless rows come from code or from a source, and not from both."""
    if (kind == "source") == (configured.batches is not None):
        return
    if configured.batches is not None:
        raise BadPipeline(
            "config.yaml has a source, and there is code too: rows come from one of them.",
            where=folder,
            next="Remove source, or the code.",
        )
    raise _no_source(folder, contents)


def _gates(folder: str, contents: Mapping[str, str], configured: Configured) -> tuple[Gate, ...]:
    written = [
        read_gate(path.removeprefix(_GATES).removesuffix(".sql"), text, where=f"{folder}/{path}")
        for path, text in sorted(contents.items())
        if path.startswith(_GATES) and path.endswith(".sql")
    ]
    return (*written, *column_gates(configured.config.columns, where=f"{folder}/{_CONFIG}"))


def _reads(
    kind: Kind, source: str, where: str
) -> tuple[Style, tuple[TemplateRead, ...], tuple[TemplateRead, ...], frozenset[str]]:
    if kind == "source":
        return "source", (), (), frozenset()
    if kind == "python":
        code = read_python_inputs(source, where=where)
        return code.style, code.refs, code.zones, code.names | {"watermark"}
    template = _declarations(source, where)
    return "sql", template.refs, template.zones, template.names


def _declarations(template: str, where: str) -> Declarations:
    return read_declarations(template, where=where, questions=TEMPLATE_WORDS)


def _zone(call: TemplateRead, *, where: str, namespace: str) -> ZoneRef:
    parts = call.name.split(".")
    try:
        zone = ZoneName(*parts) if len(parts) == 2 else ZoneName(namespace, call.name)
    except BadName as error:
        raise BadPipeline(error.what, where=where, line=call.line, next=error.next) from None
    return ZoneRef(call.name, zone, call.pattern, where, call.line)


def _require_consistent(spec: PipelineSpec) -> None:
    if spec.is_view and (spec.kind == "python" or spec.zones):
        what = (
            "a view is a query over tables: it needs pipeline.sql, and cannot read landing zones."
        )
        raise BadPipeline(what, where=spec.file, next="Set materialized: table.")
    known = spec.config.columns
    for key in (
        spec.strategy.keys if known and all(column.type for column in known.values()) else ()
    ):
        if key not in known:
            raise BadPipeline(
                f"unique_key names {key!r}, which is not among columns.",
                where=spec.file,
                next=suggestion(near(key, known)),
            )


def content_digest(contents: Mapping[str, bytes]) -> str:
    """The digest of a pipeline's files, even if they are not a valid pipeline."""
    return text_digest({path: _readable(data) for path, data in contents.items()})


def text_digest(contents: Mapping[str, str]) -> str:
    """The digest of a pipeline's files."""
    whole = hashlib.sha256()
    for path, text in sorted(contents.items()):
        for part in (path, text):
            whole.update(len(part.encode()).to_bytes(8, "big") + part.encode())
    return whole.hexdigest()
