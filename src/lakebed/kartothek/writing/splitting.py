"""Rows divided by the values of the partition keys."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakebed.kartothek.format.partition_values import value_text

KeyTexts = tuple[tuple[str, str | bytes], ...]


def split(table: Any, keys: Sequence[str]) -> Iterator[tuple[KeyTexts, Any]]:
    """The rows of each combination of keys, in their order; `BadBatch` for a key without a value.

    Without keys all rows are one part, even if there are none.
    """
    if not keys:
        yield (), table
    elif table.num_rows:
        yield from _parts(table, keys)


def _parts(table: Any, keys: Sequence[str]) -> Iterator[tuple[KeyTexts, Any]]:
    for key in keys:
        column = table.column(key)
        if pc.any(pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))).as_py():
            value_text(None, column=key)
    codes = _codes(table, keys)
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order])) + 1
    for rows in np.split(order, ends):
        part = table.take(pa.array(rows))
        texts = [(key, value_text(part.column(key)[0].as_py(), column=key)) for key in keys]
        yield tuple(texts), part


def _codes(table: Any, keys: Sequence[str]) -> Any:
    """A number for each row, the same where the keys are."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    for key in keys:
        encoded = table.column(key).combine_chunks().dictionary_encode()
        own = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        # Numbered again after each key: the product of many keys might not fit into 64 bits.
        codes = np.unique(codes * len(encoded.dictionary) + own, return_inverse=True)[1]
    return codes
