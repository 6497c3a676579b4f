"""A REST catalog that takes requests and never answers."""

import socket
from pathlib import Path

import pytest

from lakebed.app.stores import open_stores
from lakebed.errors import CatalogUnreachable
from lakebed.settings import RestCatalog, Root, Settings
from tests.servers.processes import LOOPBACK


def test_a_rest_catalog_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as silent:
        url = f"http://{LOOPBACK}:{silent.getsockname()[1]}"
        settings = Settings(catalog=RestCatalog(kind="rest", url=url, timeout_seconds=0.2))
        stores = open_stores(settings, Root.parse(tmp_path))
        with pytest.raises(CatalogUnreachable, match=r"[Tt]imed out"):
            stores.catalog.pointers()
