"""Rows as a pandas DataFrame, without changing a number."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import pyarrow as pa

DtypeBackend = Literal["pyarrow"]


def as_pandas(table: "pa.Table", backend: DtypeBackend | None = None) -> "pd.DataFrame":
    """A DataFrame with pandas' types; integers with NULLs get its nullable types, because NumPy
    would make them floats.

    With the backend `pyarrow`, columns have Arrow's types, and NaN is not NULL.
    """
    import pandas as pd
    import pyarrow as pa

    if backend == "pyarrow":
        numbered = table.rename_columns(
            [str(number) for number in range(table.num_columns)]
        )  # names may occur twice
        return numbered.to_pandas(types_mapper=pd.ArrowDtype).set_axis(
            table.column_names, axis="columns"
        )
    frame = table.to_pandas(integer_object_nulls=True)
    for number, column in enumerate(table.columns):
        if column.null_count and pa.types.is_integer(column.type):
            nullable = pd.api.types.pandas_dtype(
                str(column.type).replace("int", "Int").replace("u", "U")
            )
            frame.isetitem(number, nullable.__from_arrow__(column))
    return frame
