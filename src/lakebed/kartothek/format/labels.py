"""Labels of partitions: `country=DE/day=2024-01-01/481a77f0`.

Names and values of partition keys are URL-encoded; the last part is the partition's own id. plateau
leaves `/` in a value as it is: a part without `=` goes on with the value before it.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from lakebed.errors import DamagedDataset
from lakebed.kartothek.format.names import url_quoted

_PAIRS = re.compile("/(?=[^/=]*=)")  # between key=value and the next one


def partition_label(keys: Sequence[tuple[str, str | bytes]], id: str) -> str:
    """The label of a partition with these keys; values are given as the text of the path."""
    folders = [f"{url_quoted(key)}={url_quoted(value)}" for key, value in keys]
    return "/".join([*folders, id])


def label_keys(label: str) -> dict[str, bytes]:
    """The keys of a label and their values: UTF-8, unless the column is binary."""
    pairs = (pair.partition("=") for pair in _PAIRS.split(label.rpartition("/")[0]))
    return {_text(key): unquote_to_bytes(value) for key, found, value in pairs if found}


def key_values(label: str, keys: Sequence[str], *, path: str) -> tuple[bytes, ...]:
    """The values of the partition keys; `DamagedDataset` if the label lacks one."""
    found = label_keys(label)
    for key in keys:
        if key not in found:
            what = f"the partition {label!r} does not name the partition key {key!r}."
            raise DamagedDataset(path, what)
    return tuple(found[key] for key in keys)


def _text(quoted: str) -> str:
    return unquote_to_bytes(quoted).decode(errors="replace")
