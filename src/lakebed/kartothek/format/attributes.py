"""Attributes of a metadata file, strictly typed: nothing is converted, what is wrong is named."""

from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any

from lakebed.errors import DamagedDataset, UnsupportedDataset
from lakebed.kartothek.format.labels import label_keys
from lakebed.kartothek.format.names import DataFormat, data_format, dataset_of
from lakebed.kartothek.format.state import VERSION, DatasetState

_KNOWN = {
    "dataset_metadata_version",
    "dataset_uuid",
    "metadata",
    "partitions",
    "partition_keys",
    "indices",
}
_USUAL = f".{DataFormat.PARQUET}"
_TYPES = {str: "STRING", int: "INT", dict: "MAP", list: "LIST", bool: "BOOLEAN"}


def state_from_attributes(attributes: Any, *, own: str, path: str) -> DatasetState:
    """The state that these attributes describe; `own` is the key of Lakebed's own ones."""
    found = _Attributes(path)
    found.require(attributes, dict, "the document")
    found.require_version(attributes)
    uuid = found.require(attributes.get("dataset_uuid"), str, "dataset_uuid")
    if dataset_of(path.rpartition("/")[2]) not in {None, uuid}:
        raise DamagedDataset(path, f"the file belongs to another dataset, {uuid!r}.")
    partitions = found.partitions(attributes.get("partitions"), uuid)
    ours = attributes.get(own)
    ours = ours if isinstance(ours, dict) else {}
    return DatasetState(
        uuid,
        partitions,
        found.partition_keys(attributes.get("partition_keys"), partitions),
        found.indices(attributes.get("indices", {}), uuid),
        found.texts(attributes.get("metadata", {}), "metadata"),
        found.texts(ours.get("schemas", {}), f"{own}.schemas"),
        found.sizes(ours.get("index_sizes", {}), f"{own}.index_sizes"),
        found.names(ours.get("commits", []), f"{own}.commits"),
        {name: value for name, value in attributes.items() if name not in {*_KNOWN, own}},
        found.segments(ours.get("segments", {}), f"{own}.segments", uuid),
    )


def _plain_files(labels: Mapping[str, Any]) -> dict[str, dict[str, str]] | None:
    """The files of partitions that are all as they must be; None if one of them is not.

    There may be many thousands: the texts of messages are made only if there is one to be told.
    """
    if not set(map(type, labels.values())) <= {dict}:
        return None
    files = [partition.get("files") for partition in labels.values()]
    if not all(files) or not set(map(type, files)) <= {dict}:
        return None
    paths = chain.from_iterable(map(dict.values, files))
    texts = chain(labels, chain.from_iterable(files), paths)
    return dict(zip(labels, files, strict=True)) if set(map(type, texts)) <= {str} else None


class _Attributes:
    """Checks the attributes of one file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def require(self, value: Any, kind: type, name: str) -> Any:
        if type(value) is not kind:
            seen = "is missing" if value is None else f"is {value!r:.40}"
            raise self._damaged(f"{name} must be of type {_TYPES[kind]}, and {seen}.")
        return value

    def require_version(self, attributes: Mapping[str, Any]) -> None:
        name = "dataset_metadata_version"
        version = self.require(attributes.get(name), int, name)
        if version != VERSION:
            what = f"the dataset has metadata version {version}; only version {VERSION} is read."
            raise UnsupportedDataset(self._path, what)

    def texts(self, value: Any, name: str) -> dict[str, str]:
        for key, text in self.require(value, dict, name).items():
            self.require(key, str, f"a key of {name}")
            self.require(text, str, f"{name}[{key!r}]")
        return dict(value)

    def sizes(self, value: Any, name: str) -> Mapping[str, int]:
        for key, size in self.require(value, dict, name).items():
            self.require(size, int, f"{name}[{key!r}]")
        return dict(value)

    def indices(self, value: Any, uuid: str) -> Mapping[str, str]:
        found = self.texts(value, "indices")
        self._require_own_files(found.values(), uuid)
        return found

    def segments(self, value: Any, name: str, uuid: str) -> Mapping[str, tuple[str, ...]]:
        paths = self.require(value, dict, name)
        found = {column: self.names(paths[column], f"{name}[{column!r}]") for column in paths}
        self._require_own_files([path for one in found.values() for path in one], uuid)
        return found

    def partitions(self, value: Any, uuid: str) -> Mapping[str, Mapping[str, str]]:
        labels = self.require(value, dict, "partitions")
        found = _plain_files(labels)
        if found is None:
            found = {label: self._files(labels, label) for label in labels}
        paths = list(chain.from_iterable(map(dict.values, found.values())))
        if len(set(paths)) < len(paths):
            twice = next(path for path in paths if paths.count(path) > 1)
            raise self._damaged(f"the file {twice} is in two partitions.")
        self._require_own_files(paths, uuid)
        for path in [one for one in paths if not one.endswith(_USUAL)]:
            data_format(path)
        tables = set(chain.from_iterable(found.values()))
        if len(tables) > 1 and any(files.keys() != tables for files in found.values()):
            raise self._damaged("the partitions do not all have the same tables.")
        return found

    def partition_keys(self, value: Any, partitions: Iterable[str]) -> tuple[str, ...]:
        """The keys; a file may leave them out, and the labels have them too."""
        if value is None:
            return tuple(label_keys(next(iter(partitions), "")))
        return self.names(value, "partition_keys")

    def names(self, value: Any, name: str) -> tuple[str, ...]:
        for one in self.require(value, list, name):
            self.require(one, str, f"an element of {name}")
        return tuple(value)

    def _files(self, labels: Mapping[str, Any], label: str) -> dict[str, str]:
        self.require(label, str, "the label of a partition")
        partition = self.require(labels[label], dict, f"the partition {label!r}")
        files = self.texts(partition.get("files"), f"the files of the partition {label!r}")
        if not files:
            raise self._damaged(f"the partition {label!r} has no file.")
        return files

    def _require_own_files(self, paths: Collection[str], uuid: str) -> None:
        own = f"{uuid}/"
        # If the first and the last in order begin so, all between them do.
        for path in (min(paths, default=own), max(paths, default=own)):
            if not path.startswith(own):
                raise self._damaged(f"{path} is not a file of the dataset {uuid}.")

    def _damaged(self, why: str) -> DamagedDataset:
        return DamagedDataset(self._path, why)
