"""PyIceberg's client of a REST catalog with a timeout, which it does not set by itself."""

from typing import Any

from pyiceberg.catalog.rest import RestCatalog
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter

from lakebed.engines.limits import CONNECT_SECONDS

TIMEOUT = "lakebed.timeout-seconds"


class LimitedRest(RestCatalog):
    """A REST catalog that counts as unreachable if it is silent for longer than the property
    `TIMEOUT`.
    """

    def _create_session(self) -> Session:
        session = super()._create_session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Limited(float(self.properties[TIMEOUT])))
        return session


class _Limited(HTTPAdapter):
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        super().__init__()

    def send(self, request: PreparedRequest, *given: Any, **options: Any) -> Response:
        return super().send(
            request, *given, **options | {"timeout": (CONNECT_SECONDS, self._seconds)}
        )
