"""What care can be asked to do."""

from dataclasses import dataclass
from typing import Literal, get_args

from lakebed.errors import UnknownName
from lakebed.names import TableName

Action = Literal[
    "close_dead_runs", "remove_branches", "drop_leftovers", "finish_removal", "build_layouts",
    "compact_files", "rewrite_manifests", "expire_snapshots", "purge_dropped", "remove_orphans",
    "purge_processed", "purge_quarantine", "purge_staging", "purge_runs", "purge_logs",
    "purge_events", "reap_releases",
]  # fmt: skip
ACTIONS: tuple[Action, ...] = get_args(Action)
# what writes to tables, or removes their files
OF_TABLES = frozenset(ACTIONS[: ACTIONS.index("remove_orphans") + 1])


@dataclass(frozen=True)
class CareRequest:
    """Which tables, which actions, and whether this is a dry run."""

    tables: frozenset[TableName] | None = None  # None: the whole lake
    only: tuple[Action, ...] = ()
    dry_run: bool = False
    orphans: bool = False  # remove them even if the settings do not say so

    def wants(self, action: Action) -> bool:
        """Interrupted removals are finished by the actions that start such removals."""
        begun = action == "finish_removal" and not {"expire_snapshots", "purge_dropped"}.isdisjoint(
            self.only
        )
        return not self.only or action in self.only or begun

    def means(self, table: TableName | None) -> bool:
        """Whether a table is selected; None is, if no table was named."""
        return self.tables is None or table in self.tables

    @property
    def removes_orphans(self) -> bool:
        return self.orphans or "remove_orphans" in self.only


def action_named(text: str) -> Action:
    """The action of this name, or the only one whose name starts with it; `-` may stand for `_`."""
    name = text.strip().casefold().replace("-", "_")
    found = [action for action in ACTIONS if action == name] or [
        action for action in ACTIONS if name and action.startswith(name)
    ]
    if len(found) != 1:
        raise UnknownName("action of care", text, ACTIONS)
    return found[0]
