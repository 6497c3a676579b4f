"""The shell's prompt on a terminal: history, completion, multi-line statements."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from lakebed.cli.sql.shell import Shell
from lakebed.cli.sql.statements import split_statements, suggestions
from lakebed.query.parsing.functions import ALLOWED

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output


class SqlCompleter(Completer):
    """Completion of tables, columns, functions, keywords and commands."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        before = document.text_before_cursor
        for offer in suggestions(
            before, self._shell.names(), self._shell.columns_of, sorted(ALLOWED)
        ):
            yield Completion(offer.word, start_position=-offer.replaces, display_meta=offer.about)


def prompted(
    shell: Shell,
    history: Path | None,
    *,
    input: "Input | None" = None,
    output: "Output | None" = None,
) -> Iterator[str]:
    """Statements and dot commands as typed, until Ctrl-D. Ctrl-C discards a statement."""
    session: PromptSession[str] = PromptSession(
        history=_history(history),
        completer=SqlCompleter(shell),
        complete_while_typing=False,
        multiline=Condition(lambda: not _is_whole(session.default_buffer.text)),
        prompt_continuation=lambda width, *_: "…> ".rjust(width),
        enable_open_in_editor=False,
        key_bindings=_keys(),
        input=input,
        output=output,
    )
    while True:
        try:
            text = session.prompt(
                f"{shell.namespace or 'lake'}{f' at {shell.at}' if shell.at else ''}> "
            )
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        yield from _parts(text)


def _parts(text: str) -> Iterator[str]:
    if text.lstrip().startswith("."):
        yield text.strip()
        return
    done, begun = split_statements(text)
    yield from done
    if begun:
        yield begun


def _is_whole(text: str) -> bool:
    """Whether Enter runs it: a dot command, nothing, or statements that end with a semicolon."""
    return (
        not text.strip()
        or text.lstrip().startswith(".")
        or (text.rstrip().endswith(";") and not split_statements(text)[1])
    )


def _history(file: Path | None) -> History:
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> Any:
        """Run the text, complete or not."""
        event.current_buffer.validate_and_handle()

    return keys
