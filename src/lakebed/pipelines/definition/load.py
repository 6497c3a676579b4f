"""From a pipeline's folder to a `PipelineSpec`, or to an error that shows the line."""

import hashlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from lakebed.errors import BadName, BadPipeline, near, raise_all, suggestion
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.pipelines.definition.configure import Configured, Origin, configure
from lakebed.pipelines.definition.misplaced import (
    OF_A_NAMESPACE,
    OF_THE_ROOT,
    misplaced_beside_pipelines,
    misplaced_folder,
    misplaced_in_pipeline,
)
from lakebed.pipelines.definition.naming import refs_of, tables_of_folders
from lakebed.pipelines.definition.python_inputs import read_python_inputs
from lakebed.pipelines.definition.spec import Kind, PipelineSpec, Ref, Style, ZoneRef
from lakebed.ports import Files
from lakebed.quality import Gate, column_gates, read_gate
from lakebed.settings import DATA, Document
from lakebed.tables import TEMPLATE_WORDS
from lakebed.templates import (
    Comment,
    Declarations,
    TemplateRead,
    misplaced_annotation,
    read_annotations,
    read_declarations,
)

_CONFIG = "config.yaml"
_CODE: dict[str, Kind] = {"pipeline.sql": "sql", "pipeline.py": "python"}
_SOURCES: dict[str, Kind] = {**_CODE, _CONFIG: "source"}  # in the order in which they count
_COMMENTS: dict[Kind, Comment] = {"sql": "--", "python": "#"}
_GATES = "tests/quality/"
_NAMESPACE = frozenset({"pipelines", "landing", "warehouse"})  # what only a namespace has


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
    return list_pipelines(files).read(files)


def read_folder(files: Files, folder: str) -> dict[str, bytes]:
    """The files of one pipeline, by their paths in its folder; empty if there is no folder."""
    inside = (info.path.removeprefix(f"{folder}/") for info in files.list(folder))
    return _contents(files, folder, [path for path in inside if is_pipeline_file(path)])


@dataclass(frozen=True)
class PipelineListing:
    """The files below all `{namespace}/pipelines`."""

    folders: dict[str, list[str]]  # {namespace}/pipelines/{layer}/{name}, with the paths inside
    others: list[str]  # in no such folder

    def read(self, files: Files) -> dict[str, dict[str, bytes]]:
        """The contents of all folders."""
        return {folder: _contents(files, folder, paths) for folder, paths in self.folders.items()}


def list_pipelines(files: Files) -> PipelineListing:
    """Where the files of pipelines are. Reads none of them."""
    found = PipelineListing({}, [])
    for namespace in _namespaces(files):
        for info in files.list(f"{namespace}/pipelines"):
            *folder, inside = [*info.path.split("/", 4), ""][:5]
            if not inside:
                found.others.append(info.path)
            elif is_pipeline_file(inside):
                found.folders.setdefault("/".join(folder), []).append(inside)
    return found


def list_folders(files: Files) -> dict[str, list[str]]:
    """The folders of all pipelines, with the paths of their files. Reads no file."""
    return list_pipelines(files).folders


def misplaced_files(files: Files, listing: PipelineListing) -> Iterator[BadPipeline]:
    """What is in no pipeline's folder, and looks as if it belonged to one."""
    yield from filter(None, map(misplaced_beside_pipelines, listing.others))
    for namespace in _namespaces(files):
        own = files.folders(namespace)
        for name in sorted(OF_A_NAMESPACE.intersection(own)):
            yield from _misplaced_folder(files, f"{namespace}/{name}")
        if namespace in OF_THE_ROOT and not _NAMESPACE.intersection(own):
            yield from _misplaced_folder(files, namespace)


def _misplaced_folder(files: Files, folder: str) -> Iterator[BadPipeline]:
    if fault := misplaced_folder(folder, (info.path for info in files.list(folder))):
        yield fault


def _namespaces(files: Files) -> Iterator[str]:
    return (name for name in files.folders() if name != DATA and not name.startswith((".", "_")))


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
                is_utf16 = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
                advice = f"{'It is UTF-16. ' if is_utf16 else ''}Save it as UTF-8."
                raise BadPipeline(what, where=f"{folder}/{path}", next=advice) from None
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
    if version is None:  # a release runs as it is
        raise_all(misplaced_in_pipeline(folder, contents, kind))
        _require_annotations_on_top(kind, source, where)
    _require_one_source(configured, kind, folder, contents)
    gates = _gates(folder, contents, configured)
    style, reads, zones, names = _reads(kind, source, where)
    gate_refs = tuple(
        ref for gate in gates for ref in _gate_refs(gate, configured.origin, namespace, known)
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
        origin=configured.origin,
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
    code = contents[_source_file(folder, contents)]
    annotations = read_annotations(code, comment=_COMMENTS[kind], where=where)
    return configure(document, annotations, source=where)


def _require_annotations_on_top(kind: Kind, code: str, where: str) -> None:
    """Raise for a setting in a comment below the first line of code, where none is read."""
    comment = _COMMENTS.get(kind)
    stray = comment and misplaced_annotation(
        code, comment=comment, keys=PipelineConfig.model_fields
    )
    if stray:
        raise BadPipeline(
            f"nothing reads the annotation @{stray.key} below the first line of code.",
            where=where,
            line=stray.line,
            excerpt=f"{comment} @{stray.key}: {stray.value}",
            next="Move it to the comments at the top of the file, or to config.yaml.",
        )


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


def _gate_refs(
    gate: Gate, origin: Origin, namespace: str, known: Collection[TableName]
) -> tuple[Ref, ...]:
    calls = _declarations(gate.source, gate.where).refs
    if gate.column:
        calls = tuple(replace(call, line=origin.line_of_test(gate)) for call in calls)
    refs = refs_of(calls, gate.where, namespace, known)
    return tuple(replace(ref, gate=gate.name) for ref in refs)


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
