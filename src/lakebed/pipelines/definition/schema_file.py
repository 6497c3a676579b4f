"""A schema of tables in one file, as pipelines: one for each table, without code. Pure."""

import yaml

from lakebed.errors import BadName, BadPipeline, BadText
from lakebed.names import TableName, require_unreserved
from lakebed.pipelines.definition.load import read_pipeline
from lakebed.settings import Document

LAYER = "bronze"
_TABLES = "tables"


def pipelines_of_schema(text: str, *, where: str, namespace: str) -> dict[str, bytes]:
    """The `config.yaml` of every table under `tables`, by path below the lake's root.

    Every one is read as a pipeline first; a table that could not run raises, with its line.
    """
    require_unreserved("namespace", namespace)
    document = Document(text, where=where, refusal=BadPipeline)
    _require_tables(document)
    found: dict[str, bytes] = {}
    for name, config in document.tree[_TABLES].items():
        folder = _folder(document, str(name), namespace)
        shown = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
        _require_valid(document, str(name), folder, shown)
        found[f"{folder}/config.yaml"] = shown.encode()
    return found


def _require_tables(document: Document) -> None:
    tables = document.tree.get(_TABLES)
    if not isinstance(tables, dict) or not tables:
        raise BadPipeline(
            "there are no tables.", where=document.where, next="List them by name under tables:."
        )
    if others := [name for name in document.tree if name != _TABLES]:
        line, excerpt = document.find((str(others[0]),))
        what = f"a schema has only tables, not {others[0]!r}."
        raise BadPipeline(what, where=document.where, line=line, excerpt=excerpt)


def _folder(document: Document, name: str, namespace: str) -> str:
    try:
        return TableName.of_pipeline(namespace, LAYER, name).pipeline_folder
    except BadName as error:
        raise _at(document, (name,), error.what, error.next) from None


def _require_valid(document: Document, name: str, folder: str, text: str) -> None:
    try:
        read_pipeline(folder, {"config.yaml": text})
    except BadText as error:
        raise _at(document, (name, *error.path), error.fault, error.next) from None


def _at(document: Document, path: tuple[str, ...], what: str, advice: str) -> BadPipeline:
    line, excerpt = document.find((_TABLES, *path))
    return BadPipeline(
        f"{path[0]}: {what}", where=document.where, line=line, excerpt=excerpt, next=advice
    )
