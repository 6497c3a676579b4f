"""The tables that pipelines make, from their folders, and those that they read, from their refs."""

from collections.abc import Collection, Iterable
from contextlib import suppress

from lakebed.errors import BadName, BadPipeline, near, suggestion
from lakebed.names import TableName, split_identifier
from lakebed.pipelines.definition.spec import Ref
from lakebed.settings import Settings
from lakebed.templates import TemplateRead


def tables_of_folders(folders: Iterable[str]) -> frozenset[TableName]:
    """The tables of these pipeline folders. Folders whose names are invalid are left out."""
    found = set()
    for folder in folders:
        namespace, _, layer, name = folder.split("/")
        with suppress(BadName):
            found.add(TableName.of_pipeline(namespace, layer, name))
    return frozenset(found)


def require_known_layer(folder: str, settings: Settings) -> None:
    """Raise if the folder is in a layer that its namespace does not have."""
    namespace, _, layer, _ = folder.split("/")
    layers = settings.layers_of(namespace)
    if layer not in layers:
        listed = ", ".join((*layers, layer))
        raise BadPipeline(
            f"{namespace} has no layer {layer!r}: its layers are {', '.join(layers)}.",
            where=folder,
            next=(
                f"{suggestion(near(layer, layers))} A layer is added in lakebed.yaml, as in layers:"
                f" [{listed}]".lstrip()
            ),
        )


def refs_of(
    calls: Iterable[TemplateRead], where: str, namespace: str, known: Collection[TableName]
) -> tuple[Ref, ...]:
    """The refs of a text, with their tables."""
    return tuple(
        Ref(call.name, _ref_table(call, namespace, known, where=where), where, call.line)
        for call in calls
    )


def _ref_table(
    call: TemplateRead, namespace: str, known: Collection[TableName], *, where: str
) -> TableName:
    """The table that `ref('name')`, `ref('layer.name')` or `ref('namespace.layer.name')` means."""
    try:
        parts = split_identifier(call.name)
        if len(parts) == 1:
            return _only_one(call, namespace, known, where=where)
        if len(parts) > 3:
            raise BadName(
                "table", call.name, "a ref is 'name', 'layer.name' or 'namespace.layer.name'"
            )
        return TableName(*((namespace, *parts) if len(parts) == 2 else parts))
    except BadName as error:
        raise BadPipeline(error.what, where=where, line=call.line, next=error.next) from None


def _only_one(
    call: TemplateRead, namespace: str, known: Collection[TableName], *, where: str
) -> TableName:
    """The only table with this name: in the pipeline's own namespace, else in any."""
    fitting = sorted(table for table in known if table.name == call.name)
    found = [table for table in fitting if table.namespace == namespace] or fitting
    if len(found) == 1:
        return found[0]
    if found:
        what, advice = (
            f"the ref {call.name!r} is ambiguous: {', '.join(map(str, found))}.",
            "Give the layer too: 'layer.name'.",
        )
    else:
        close = suggestion(near(call.name, {table.name for table in known}))
        what = f"no pipeline produces a table {call.name!r}."
        advice = close or "A table without a pipeline is named with its layer: 'layer.name'."
    raise BadPipeline(what, where=where, line=call.line, next=advice)
