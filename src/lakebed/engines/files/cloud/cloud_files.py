"""Files in a container of Azure, or a bucket of Google.

Only `open_location` imports this module, so that a folder never loads obstore.
"""

import os
from datetime import timedelta
from typing import Any, ClassVar
from urllib.parse import urlsplit

from obstore.store import AzureStore, GCSStore

from lakebed.engines.files.cloud.object_files import ObjectFiles
from lakebed.ports.files.file_probe import require_atomic_writes
from lakebed.settings import KartothekSettings

_PATIENCE: Any = {
    "connect_timeout": timedelta(seconds=3),
    "read_timeout": timedelta(seconds=30),
    "timeout": timedelta(minutes=10),
}
_RETRIES: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=6)}


class AzureFiles(ObjectFiles):
    """Files below a prefix of a container: `az://container/prefix`.

    Without an account in the settings, obstore takes AZURE_STORAGE_ACCOUNT_NAME and the other
    variables of the Azure tools.
    """

    def __init__(self, url: str, settings: KartothekSettings) -> None:
        place = urlsplit(url)
        super().__init__(_azure(place.netloc, place.path.strip("/"), settings), url)

    def probe(self) -> None:
        require_atomic_writes(self, create=self.create, replace=_replacing(self))

    def _tag(self, given: str | None) -> str:
        """A listing gives etags without their quotation marks."""
        return f'"{given}"' if given and not given.startswith('"') else given or ""


class GoogleFiles(ObjectFiles):
    """Files below a prefix of a bucket: `gs://bucket/prefix`. No server was at hand to test it.

    Google replaces by the generation of a file, not by its etag.
    """

    tag: ClassVar[Any] = "version"

    def __init__(self, url: str, settings: KartothekSettings) -> None:
        place = urlsplit(url)
        super().__init__(_google(place.netloc, place.path.strip("/"), settings), url)

    def probe(self) -> None:
        require_atomic_writes(self, create=self.create, replace=_replacing(self))


def _replacing(files: ObjectFiles) -> Any:
    return lambda path, data, etag: files.replace(path, data, etag=etag)


def _azure(container: str, prefix: str, settings: KartothekSettings) -> AzureStore:
    key, signature = settings.azure_account_key, settings.azure_sas_token
    options: dict[str, Any] = {
        "account_name": settings.azure_account,
        "account_key": key.get_secret_value() if key else "",
        "sas_key": signature.get_secret_value() if signature else "",
        "endpoint": settings.azure_endpoint,
    }
    endpoint = settings.azure_endpoint or os.environ.get("AZURE_STORAGE_ENDPOINT", "")
    client: Any = {**_PATIENCE, "allow_http": endpoint.startswith("http://")}
    return AzureStore(
        container,
        prefix=prefix or None,
        config={name: value for name, value in options.items() if value},  # type: ignore[arg-type]
        client_options=client,
        retry_config=_RETRIES,
    )


def _google(bucket: str, prefix: str, settings: KartothekSettings) -> GCSStore:
    own: Any = {"service_account": settings.google_key_file} if settings.google_key_file else {}
    return GCSStore(
        bucket, prefix=prefix or None, config=own, client_options=_PATIENCE, retry_config=_RETRIES
    )
