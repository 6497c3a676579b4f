"""The tables, zones and names in a parsed template. Refuses what cannot be known before it runs."""

from collections.abc import Iterable, Iterator

from jinja2 import nodes

from lakebed.errors import near, suggestion
from lakebed.errors.source_text import SourceText
from lakebed.templates.declarations import Declarations, TemplateRead
from lakebed.templates.parse import grammar
from lakebed.templates.render_simple import is_simple
from lakebed.templates.template_names import READS, VALUES, Words


def declarations_of(tree: nodes.Template, file: SourceText, words: Words) -> Declarations:
    """Every table, zone and name in the tree, each checked."""
    found = tuple(_every(tree))
    own = _own_names(found, file, words)
    calls = [
        node for node in found if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name)
    ]
    called = {id(call.node) for call in calls}
    for node in found:
        _check(node, file, words, own=own, called=called)
    for call in calls:
        _check_arguments(call, file, words)
    reads = [(_callee(call), _read(call, file)) for call in calls if _callee(call) in READS]
    return Declarations(
        refs=_first_uses(read for word, read in reads if word == "ref"),
        zones=_first_uses(read for word, read in reads if word == "landing_zone"),
        names=frozenset(node.name for node in found if isinstance(node, nodes.Name)) - own,
        simple=is_simple(tree, words),
    )


def _every(tree: nodes.Node) -> Iterator[nodes.Node]:
    """All nodes in text order, at any depth."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(node.iter_child_nodes())))


def _own_names(found: tuple[nodes.Node, ...], file: SourceText, words: Words) -> set[str]:
    """The names that the template defines with set, for, with or macro."""
    own = {
        node.name: node.lineno
        for node in found
        if isinstance(node, nodes.Macro) or (isinstance(node, nodes.Name) and node.ctx != "load")
    }
    for name in own.keys() & words.ours:
        raise file.error(
            f"{name!r} is a name of Lakebed and cannot be set.",
            line=own[name],
            next="Choose another name.",
        )
    return set(own)


def _check(
    node: nodes.Node, file: SourceText, words: Words, *, own: set[str], called: set[int]
) -> None:
    match node:
        case nodes.Include() | nodes.Import() | nodes.FromImport() | nodes.Extends():
            raise file.error(
                "a template is one file: include, import and extends are not available.",
                line=node.lineno,
                next="Read another pipeline's table with ref('layer.table').",
            )
        case nodes.Name() if node.name not in own:
            _check_word(node, file, words, called=id(node) in called)
        case nodes.Filter():
            _check_known("filter", node, grammar().filters, file)
        case nodes.Test():
            _check_known("test", node, grammar().tests, file)


def _check_known(
    kind: str, node: nodes.Filter | nodes.Test | nodes.Name, known: Iterable[str], file: SourceText
) -> None:
    if node.name not in known:
        raise file.error(
            f"there is no {kind} {node.name!r} in templates.",
            line=node.lineno,
            next=suggestion(near(node.name, known)),
        )


def _check_word(node: nodes.Name, file: SourceText, words: Words, *, called: bool) -> None:
    _check_known("word", node, words.allowed, file)
    if node.name == "config" and called:
        raise file.error(
            "config holds the settings and cannot be called.",
            line=node.lineno,
            next="Settings are given by annotations (-- @key: value) or in config.yaml.",
        )
    if node.name in words.functions and not called:
        # `{% if is_incremental %}` would always be true, and a `ref` under another name would hide
        # what is read.
        raise file.error(
            f"{node.name} is a function.",
            line=node.lineno,
            next=f"Write {node.name}(…) where its answer is needed.",
        )
    if node.name in VALUES and called:
        raise file.error(
            f"{node.name} is a value and cannot be called.",
            line=node.lineno,
            next=f"Write {node.name} without ().",
        )


def _callee(call: nodes.Call) -> str:
    return call.node.name if isinstance(call.node, nodes.Name) else ""


def _check_arguments(call: nodes.Call, file: SourceText, words: Words) -> None:
    word, options = _callee(call), {pair.key for pair in call.kwargs}
    given = len(call.args) + len(options)
    if word == "var" and not (call.args and given <= 2 and options <= {"default"}):
        raise file.error(
            "var takes a name and optionally a default.",
            line=call.lineno,
            next="Write var('name') or var('name', 1).",
        )
    if word in words.questions and (given or call.dyn_args or call.dyn_kwargs):
        raise file.error(f"{word} takes nothing.", line=call.lineno, next=f"Write {word}().")


def _read(call: nodes.Call, file: SourceText) -> TemplateRead:
    """The table or zone that a call of `ref` or `landing_zone` names."""
    word, options = _callee(call), {pair.key: pair.value for pair in call.kwargs}
    given = [
        *call.args,
        *options.values(),
        *(extra for extra in (call.dyn_args, call.dyn_kwargs) if extra),
    ]
    shape = (
        "ref('layer.table')"
        if word == "ref"
        else "landing_zone('zone') or landing_zone('zone', pattern='*.csv')"
    )
    texts = [_text(node, call, file) for node in given]
    fits = len(call.args) == 1 and options.keys() <= (
        {"pattern"} if word == "landing_zone" else set()
    )
    if not fits:
        raise file.error(f"{word} takes one name.", line=call.lineno, next=f"Write {shape}.")
    return TemplateRead(texts[0], call.lineno, *texts[1:])


def _text(node: nodes.Node, call: nodes.Call, file: SourceText) -> str:
    if (
        isinstance(node, nodes.Const)
        and isinstance(node.value, str)
        and "{{" not in node.value
        and "{%" not in node.value
    ):
        return node.value
    raise file.error(
        f"the name in {_callee(call)}(…) is computed.",
        line=call.lineno,
        next="Write the name as a plain string, so that the graph is known before anything runs.",
    )


def _first_uses(reads: Iterable[TemplateRead]) -> tuple[TemplateRead, ...]:
    first: dict[tuple[str, str | None], TemplateRead] = {}
    for read in reads:
        first.setdefault((read.name, read.pattern), read)
    return tuple(first.values())
