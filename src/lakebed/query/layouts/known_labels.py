"""The batches of data files, told once: a file's partition never changes."""

from collections.abc import Sequence

from lakebed.derived.labels import FileLabels
from lakebed.ports import Column, ScanFile
from lakebed.query.layouts.arms import LabelOf

_MOST = 200_000  # files


class KnownLabels:
    """Tells the batches of files, and remembers those it has told."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], dict[str, str | None]] = {}
        self._count = 0

    def of(self, columns: Sequence[Column], names: Sequence[str]) -> LabelOf:
        """For the files of a table with these columns, of which `names` tell batches apart."""
        told = FileLabels(columns, names)
        known = self._known.setdefault(told.identity, {})

        def label(file: ScanFile) -> str | None:
            if file.location not in known:
                self._make_room()
                known[file.location] = told.label(file.partition)
            return known[file.location]

        return label

    def _make_room(self) -> None:
        self._count += 1
        if self._count > _MOST:
            self._count = 0
            for known in list(self._known.values()):
                known.clear()
