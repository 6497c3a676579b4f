"""What a pipeline says about the care of its table: the `care` of its config.yaml, and nothing else
of it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from lakebed.errors import BadPipeline, FileMissing, LakebedError
from lakebed.names import TableName
from lakebed.settings import Document, TableCare


def read_own_care(text: str, *, where: str) -> TableCare:
    """Reads nothing else, so that a pipeline that is broken elsewhere keeps its settings. Errors
    name their line.
    """
    document = Document(text, where=where, refusal=BadPipeline)
    given = next(
        (value for key, value in document.tree.items() if str(key).casefold() == "care"), None
    )
    try:
        return TableCare.model_validate(given or {})
    except ValidationError as error:
        raise document.error_for(error, model=TableCare, above=("care",)) from None


@dataclass(frozen=True)
class ConfigFile:
    """A pipeline's `config.yaml`, of its draft or of a release; `read` is None if it has none."""

    table: TableName
    where: str
    read: Callable[[], bytes] | None


def read_all_own_care(configs: Iterable[ConfigFile]) -> dict[TableName, TableCare | LakebedError]:
    """What each pipeline says about the care of its table, or why that cannot be read; of several
    the first counts.
    """
    found: dict[TableName, TableCare | LakebedError] = {}
    for config in configs:
        if config.table not in found:
            found[config.table] = _own_care(config)
    return found


def _own_care(config: ConfigFile) -> TableCare | LakebedError:
    if config.read is None:
        return TableCare()
    try:
        return read_own_care(config.read().decode(errors="replace"), where=config.where)
    except FileMissing:
        return TableCare()
    except LakebedError as error:
        return error
