"""Kartothek datasets: damaged, of another version, or changed by another process."""

from lakebed.errors.base import LakebedError
from lakebed.errors.tables import Conflict


class DamagedDataset(LakebedError):
    """The metadata, schema or index of a Kartothek dataset cannot be read, or contradict."""

    def __init__(self, path: str, why: str, *, next: str = "") -> None:
        self.path = path
        super().__init__(
            why,
            where=path,
            next=next or "Restore the file from a copy; leave the files beside it as they are.",
        )


class TornFile(DamagedDataset):
    """A file of a Kartothek dataset is cut off: another writer may be writing it in place."""

    retryable = True

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            path,
            why,
            next="If plateau is writing to the dataset, read again: it replaces files in place."
            " Otherwise restore the file from a copy; leave the files beside it as they are.",
        )


class UnsupportedDataset(LakebedError):
    """A Kartothek dataset has a version or a file format that Lakebed does not support."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(why, where=path, next="Write it again with plateau 4 or Lakebed.")


class DatasetChanged(Conflict):
    """Other writers changed a Kartothek dataset again and again before we could commit."""

    retryable = True
    overtaken = True

    def __init__(self, uuid: str) -> None:
        self.uuid = uuid
        super().__init__(
            f"the dataset {uuid} was changed by other writers each time we tried to commit.",
            safe="Nothing was committed.",
            next="Try again.",
        )
