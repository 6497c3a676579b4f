"""A REST catalog that answers, and refuses."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from lakebed.app.stores import open_stores
from lakebed.errors import CatalogLoginRefused, CatalogUnreachable, LakebedError
from lakebed.settings import RestCatalog, Root, Settings
from tests.servers.processes import LOOPBACK


@contextmanager
def answering(status: int) -> Iterator[str]:
    """The address of a server that answers every request with this status."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer((LOOPBACK, 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_port}"
        server.shutdown()


def error_of(status: int, folder: Path) -> LakebedError:
    """How a lake whose catalog answers so fails."""
    with answering(status) as url:
        settings = Settings(catalog=RestCatalog(kind="rest", url=url, timeout_seconds=5))
        with pytest.raises(LakebedError) as raised:
            open_stores(settings, Root.parse(folder)).catalog.pointers()
    return raised.value


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_credential_is_told_as_that_and_not_retried(status: int, tmp_path: Path) -> None:
    error = error_of(status, tmp_path)
    assert (type(error), error.retryable) == (CatalogLoginRefused, False)
    assert "LAKEBED_CATALOG_CREDENTIAL" in error.next


def test_a_server_that_is_busy_is_retried(tmp_path: Path) -> None:
    error = error_of(503, tmp_path)
    assert (type(error), error.retryable) == (CatalogUnreachable, True)
