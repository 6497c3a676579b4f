"""The root of a lake: a folder, or a prefix in a bucket."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lakebed.errors import BadRoot

SETTINGS_FILE = "lakebed.yaml"
_UNSAFE = "#%?"


@dataclass(frozen=True)
class Root:
    """A checked root. `url` is how every engine spells it, without a slash at the end."""

    url: str

    @classmethod
    def parse(cls, text: str | Path) -> "Root":
        """A folder is made absolute; an `s3://` root must name a bucket."""
        shown = str(text)
        if bad := next((sign for sign in _UNSAFE if sign in shown), None):
            raise BadRoot(
                shown,
                f"a lake's root may not contain {bad!r}: Spark, Iceberg and DuckDB read such paths"
                " differently.",
            )
        if shown.startswith("s3://"):
            return cls(_bucket_url(shown))
        if "://" in shown:
            raise BadRoot(shown, "a lake's root is a folder or an s3:// address.")
        return cls(f"file://{Path(shown).expanduser().resolve()}")

    @property
    def is_bucket(self) -> bool:
        return self.url.startswith("s3://")

    @property
    def folder(self) -> Path:
        """The folder on this machine; raises for a bucket."""
        if self.is_bucket:
            raise BadRoot(self.url, "a bucket is not a folder on this machine.")
        return Path(self.url.removeprefix("file://"))

    @property
    def bucket(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def prefix(self) -> str:
        """The key prefix in the bucket, without slashes around it."""
        return urlsplit(self.url).path.strip("/")

    def at(self, path: str) -> str:
        """The address of something below the root."""
        return f"{self.url}/{path}"

    def relative(self, location: str) -> str | None:
        """The path below the root, however `file:` or `s3a:` is spelled; None for a location
        outside it.
        """
        spelt, root = normalized_location(location), normalized_location(self.url)
        return spelt.removeprefix(root + "/") if spelt.startswith(root + "/") else None

    def __str__(self) -> str:
        return self.url if self.is_bucket else str(self.folder)


def normalized_location(location: str) -> str:
    """`file:/x`, `file:///x` and `/x` are one place, and so are `s3:`, `s3a:` and `s3n:`."""
    for scheme in ("s3a://", "s3n://"):
        if location.startswith(scheme):
            return "s3://" + location.removeprefix(scheme)
    if location.startswith("file:"):
        return "/" + location.removeprefix("file:").lstrip("/")
    return location


def _bucket_url(text: str) -> str:
    bucket = urlsplit(text).netloc
    if len(bucket) < 3:
        raise BadRoot(text, "an s3:// root names a bucket of at least three characters.")
    return text.rstrip("/")


def find_root(start: Path) -> Root | None:
    """The nearest lake, in this folder or one above it."""
    for folder in (start, *start.parents):
        if (folder / SETTINGS_FILE).is_file():
            return Root.parse(folder)
    return None
