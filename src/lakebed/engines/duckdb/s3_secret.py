"""DuckDB's access to buckets: a secret for where a lake's files may be, no further."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from urllib.parse import urlsplit

from lakebed.engines.duckdb.extensions import load_statement
from lakebed.engines.duckdb.sql.types import text
from lakebed.engines.duckdb.sql.views import SetupPart, files_of
from lakebed.engines.files.aws_keys import key_source
from lakebed.engines.files.s3_signing import AwsKeys
from lakebed.names import duckdb_identifier
from lakebed.query.planning.plan import PlannedTable
from lakebed.settings import FilesSettings, Root, normalized_location


class BucketAccess:
    """What DuckDB may read with the lake's keys: what is below its root, and the buckets of tables
    elsewhere while they are read.
    """

    def __init__(
        self,
        root: Root,
        files: FilesSettings,
        environment: Mapping[str, str],
        *,
        any_bucket: bool = False,
    ) -> None:
        self._root, self._files, self._environment = root, files, environment
        self._any_bucket = any_bucket

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """For every session; none for a folder."""
        root, files = self._root, self._files
        secrets = s3_secret(root, files, self._environment, any_bucket=self._any_bucket)
        if not secrets:
            return ()
        keyless = () if self._any_bucket else _without_keys(files)
        return (load_statement("httpfs"), *secrets, *keyless)

    def parts(self, tables: Iterable[PlannedTable]) -> tuple[SetupPart, ...]:
        """For a query of these tables: one may be outside the root, where the catalog says."""
        if self._any_bucket and self._root.is_bucket:
            return ()
        inside = f"{self._root.url.rstrip('/')}/"
        outside = (
            urlsplit(normalized_location(file))
            for file in files_of(tables)
            if file.startswith("s3") and not file.startswith(inside)
        )
        buckets = sorted({place.netloc for place in outside})
        if not buckets:
            return ()
        load = SetupPart(("extension", "", "", "httpfs"), load_statement("httpfs"))
        return (load, *(self._part(bucket) for bucket in buckets))

    def _part(self, bucket: str) -> SetupPart:
        secret = _secret(f"lake {bucket}", f"s3://{bucket}/", self._files, self._environment)
        return SetupPart(("secret", "", "", bucket), secret)


NO_BUCKETS = BucketAccess(Root.parse("/"), FilesSettings(), {})


def s3_secret(
    root: Root,
    files: FilesSettings,
    environment: Mapping[str, str],
    *,
    any_bucket: bool = False,
) -> tuple[str, ...]:
    """Statements for a session with httpfs; none for a folder.

    The secret is for the lake's own prefix, or for any bucket of the same server: a REST catalog
    decides itself where tables are.
    """
    if not root.is_bucket:
        return ()
    return (_secret("lake", "s3://" if any_bucket else f"{root.url}/", files, environment),)


def _secret(name: str, scope: str, files: FilesSettings, environment: Mapping[str, str]) -> str:
    """DuckDB is given the keys, for it cannot read profiles, nor ask the machine for them."""
    source = key_source(files, environment)
    keys = source() if source else AwsKeys("", "")
    options = {
        "KEY_ID": keys.access_key_id,
        "SECRET": keys.secret_access_key,
        "SESSION_TOKEN": keys.token,
        "REGION": files.region,
        **_server(files),
    }
    return _created(name, f", SCOPE {text(scope)}{_clauses(options)}{_plain_http(files)}")


def _without_keys(files: FilesSettings) -> tuple[str, ...]:
    """For all other buckets: they are asked for at the lake's server, not at Amazon's."""
    if not files.endpoint:
        return ()
    return (_created("elsewhere", f"{_clauses(_server(files))}{_plain_http(files)}"),)


def _created(name: str, options: str) -> str:
    return f"CREATE OR REPLACE SECRET {duckdb_identifier(name)} (TYPE s3{options})"


def _clauses(options: Mapping[str, str]) -> str:
    return "".join(f", {name} {text(value)}" for name, value in options.items() if value)


def _server(files: FilesSettings) -> dict[str, str]:
    parts = urlsplit(files.endpoint if "://" in files.endpoint else f"//{files.endpoint}")
    return {
        "ENDPOINT": parts.netloc + parts.path.rstrip("/"),
        "URL_STYLE": "path" if files.path_style else "vhost",
    }


def _plain_http(files: FilesSettings) -> str:
    return ", USE_SSL false" if files.endpoint.startswith("http://") else ""
