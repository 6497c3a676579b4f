"""The SQL shell: a session of statements and dot commands, typed or piped in."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakebed.cli.output.results import show_result
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.sql.statements import DOT_COMMANDS, MODES, split_statements
from lakebed.errors import LakebedError, UnknownName, UsageError
from lakebed.presentation.table import column_type

if TYPE_CHECKING:
    from lakebed.app import Lake


class Quit(Exception):
    """The user wants to quit."""


@dataclass
class Shell:
    """The settings of a session, kept from one statement to the next."""

    screen: Screen
    lake: "Lake"
    mode: str = "table"
    at: str | None = None
    namespace: str | None = None
    timer: bool = True
    _columns: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def execute(self, line: str) -> None:
        """Run a dot command or a statement; the caller shows errors."""
        if line.startswith("."):
            self._dot(line)
        else:
            self._ask(line)

    def _ask(self, sql: str) -> None:
        began = time.perf_counter()
        with self.lake.query(sql, at=self.at, namespace=self.namespace, route="shell") as answer:
            shown = show_result(self.screen, answer, self.mode)
        if shown:
            self.screen.say(
                Styled(
                    f"{shown}{f' in {time.perf_counter() - began:.3f} s' if self.timer else ''}",
                    "dim",
                )
            )

    # -- dot commands

    def _dot(self, line: str) -> None:
        name, _, rest = line.strip().rstrip(";").partition(" ")
        known: dict[str, Callable[[str], None]] = {
            ".help": self._help,
            ".tables": self._tables,
            ".schema": self._schema,
            ".at": self._at,
            ".mode": self._mode,
            ".timer": self._timer,
            ".quit": self._quit,
            ".exit": self._quit,
        }
        if name not in known:
            raise UnknownName("command", name, DOT_COMMANDS)
        known[name](rest.strip())

    def _help(self, _: str) -> None:
        self.screen.say(
            "Statements are DuckDB's SQL, end with ; and may span lines. Tables:"
            " namespace.layer.name, or the last parts of it."
        )
        self.screen.table(
            ["command", "what it does"], [[name, about] for name, about in DOT_COMMANDS.items()]
        )

    def _tables(self, pattern: str) -> None:
        from lakebed.tables.lookup.names import tables_matching

        found = tables_matching(pattern or None, self.lake.tables.readable())
        self.screen.table(["table"], [[str(table)] for table in found])

    def _schema(self, name: str) -> None:
        if not name:
            raise UsageError(
                ".schema needs the name of a table.", next="For example: .schema orders"
            )
        columns = self.lake.tables.columns(name)
        self.screen.table(
            ["column", "type", "needed"],
            [[one.name, column_type(one.type), "yes" if one.required else ""] for one in columns],
        )

    def _at(self, point: str) -> None:
        self.at = None if point in ("", "now") else point
        self.screen.say(
            f"Tables are read as of {self.at}." if self.at else "Tables are read as of now."
        )

    def _mode(self, mode: str) -> None:
        if mode not in MODES:
            raise UnknownName("mode", mode, MODES)
        self.mode = mode

    def _timer(self, word: str) -> None:
        self.timer = word != "off" if word else not self.timer

    def _quit(self, _: str) -> None:
        raise Quit

    # -- for completion

    def names(self) -> list[str]:
        """The tables that can be queried."""
        try:
            return [str(table) for table in self.lake.tables.readable()]
        except LakebedError:
            return []

    def columns_of(self, table: str) -> tuple[str, ...]:
        """A table's columns; none if there is no such table."""
        if table not in self._columns:
            try:
                self._columns[table] = tuple(
                    column.name for column in self.lake.tables.columns(table)
                )
            except LakebedError:
                return ()
        return self._columns[table]


def run_interactively(shell: Shell, lines: Iterable[str]) -> None:
    """Run statements as they are typed. An error is shown, and the session goes on."""
    for statement in lines:
        try:
            shell.execute(statement)
        except Quit:
            return
        except LakebedError as error:
            shell.screen.show_error(error)
        except KeyboardInterrupt:
            shell.screen.say(Styled("cancelled", "dim"))


def run_script(shell: Shell, lines: Iterable[str]) -> None:
    """Run statements from a pipe. The first error ends it: later ones may rely on it."""
    for statement in statements(lines):
        try:
            shell.execute(statement)
        except Quit:
            return
        sys.stdout.flush()


def statements(lines: Iterable[str]) -> Iterator[str]:
    """Complete statements and dot commands from lines; the last needs no semicolon."""
    begun = ""
    for line in lines:
        if not begun and line.lstrip().startswith("."):
            yield line.strip()
            continue
        done, begun = split_statements(begun + line.rstrip("\n") + "\n" if begun else line)
        yield from done
        begun = begun + "\n" if begun else ""
    if begun.strip():
        yield begun.strip()
