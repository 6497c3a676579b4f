"""DuckDB's access to a lake in a bucket: a secret for where its files may be, no further."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from lakebed.engines.duckdb.sql.types import text
from lakebed.engines.files.aws_keys import key_source
from lakebed.engines.files.s3_signing import AwsKeys
from lakebed.settings import FilesSettings, Root


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

    DuckDB is given the keys, for it cannot read profiles, nor ask the machine for them.
    """
    if not root.is_bucket:
        return ()
    source = key_source(files, environment)
    keys = source() if source else AwsKeys("", "")
    options = {
        "KEY_ID": keys.access_key_id,
        "SECRET": keys.secret_access_key,
        "SESSION_TOKEN": keys.token,
        "REGION": files.region,
        **_server(files),
    }
    clauses = "".join(f", {name} {text(value)}" for name, value in options.items() if value)
    scope = "s3://" if any_bucket else f"{root.url}/"
    return (f"CREATE SECRET lake (TYPE s3, SCOPE {text(scope)}{clauses}{_plain_http(files)})",)


def _server(files: FilesSettings) -> dict[str, str]:
    parts = urlsplit(files.endpoint if "://" in files.endpoint else f"//{files.endpoint}")
    return {
        "ENDPOINT": parts.netloc + parts.path.rstrip("/"),
        "URL_STYLE": "path" if files.path_style else "vhost",
    }


def _plain_http(files: FilesSettings) -> str:
    return ", USE_SSL false" if files.endpoint.startswith("http://") else ""
