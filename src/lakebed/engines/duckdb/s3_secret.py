"""DuckDB's access to a lake's bucket: a secret for the lake's own prefix only."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from lakebed.engines.duckdb.sql.types import text
from lakebed.settings import FilesSettings, Root


def s3_secret(root: Root, files: FilesSettings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Statements for a session with httpfs; none for a folder.

    Keys that are not set come from AWS's variables.
    """
    if not root.is_bucket:
        return ()
    key = (
        files.access_key_id.get_secret_value()
        if files.access_key_id
        else environment.get("AWS_ACCESS_KEY_ID", "")
    )
    hidden = files.secret_access_key
    secret = hidden.get_secret_value() if hidden else environment.get("AWS_SECRET_ACCESS_KEY", "")
    token = "" if files.access_key_id else environment.get("AWS_SESSION_TOKEN", "")
    options = {
        "KEY_ID": key,
        "SECRET": secret,
        "SESSION_TOKEN": token,
        "REGION": files.region,
        **_server(files),
    }
    clauses = "".join(f", {name} {text(value)}" for name, value in options.items() if value)
    return (
        f"CREATE SECRET lake (TYPE s3, SCOPE {text(root.url + '/')}{clauses}{_plain_http(files)})",
    )


def _server(files: FilesSettings) -> dict[str, str]:
    parts = urlsplit(files.endpoint if "://" in files.endpoint else f"//{files.endpoint}")
    return {
        "ENDPOINT": parts.netloc + parts.path.rstrip("/"),
        "URL_STYLE": "path" if files.path_style else "vhost",
    }


def _plain_http(files: FilesSettings) -> str:
    return ", USE_SSL false" if files.endpoint.startswith("http://") else ""
