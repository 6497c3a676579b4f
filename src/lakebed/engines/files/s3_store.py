"""obstore's connection to a bucket."""

from dataclasses import dataclass
from datetime import timedelta

from obstore.store import S3Store

from lakebed.engines.files.aws_keys import FoundKeys, key_source
from lakebed.settings import FilesSettings, Root


@dataclass(frozen=True)
class RequestTimeouts:
    """How long a request may take before the server is considered unreachable."""

    connect: timedelta
    read: timedelta
    retry: timedelta


# In SeaweedFS the loser of a race may wait more than a second for its lock.
PROBING = RequestTimeouts(
    connect=timedelta(seconds=3), read=timedelta(seconds=8), retry=timedelta(seconds=4)
)


def working(settings: FilesSettings) -> RequestTimeouts:
    silence = timedelta(seconds=settings.timeout_seconds)
    return RequestTimeouts(connect=timedelta(seconds=3), read=silence, retry=timedelta(seconds=6))


def open_store(root: Root, settings: FilesSettings, patience: RequestTimeouts) -> S3Store:
    """The store of a root; no request is made yet."""
    options: dict[str, str | bool] = {
        "region": settings.region,
        "virtual_hosted_style_request": not settings.path_style,
        "copy_if_not_exists": "multipart",
    }
    if settings.endpoint:
        options["endpoint"] = settings.endpoint
    if settings.access_key_id and settings.secret_access_key:
        options["access_key_id"] = settings.access_key_id.get_secret_value()
        options["secret_access_key"] = settings.secret_access_key.get_secret_value()
        token = settings.session_token  # one in the environment belongs to other keys
        options["token"] = token.get_secret_value() if token else ""
    keys = key_source(settings)
    return S3Store(
        root.bucket,
        prefix=root.prefix or None,
        config=options,  # type: ignore[arg-type]  # a TypedDict filled step by step
        client_options={
            "allow_http": settings.endpoint.startswith("http://"),
            "connect_timeout": patience.connect,
            "read_timeout": patience.read,
            "timeout": timedelta(minutes=10),
        },
        retry_config={"max_retries": 3, "retry_timeout": patience.retry},
        credential_provider=keys.credential if isinstance(keys, FoundKeys) else None,
    )
