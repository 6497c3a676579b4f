"""Addresses of datasets: a location, and the dataset's name as the last part."""

from lakebed.errors import UsageError
from lakebed.kartothek.format.names import dataset_of, require_uuid


def split_address(address: str) -> tuple[str, str]:
    """The location and the name in `s3://bucket/folder/sales` or `exports/sales`.

    The path of the metadata file means the dataset too. `BadName` if the last part cannot be a
    dataset's name.
    """
    place, slash, last = address.rstrip("/").rpartition("/")
    if not last or place.endswith(":/") or (slash and place.endswith(":")):
        raise UsageError(
            f"{address!r} names no dataset.", next="A dataset's address is LOCATION/DATASET."
        )
    uuid = require_uuid(dataset_of(last) or last)
    return (place or "/") if slash else ".", uuid
