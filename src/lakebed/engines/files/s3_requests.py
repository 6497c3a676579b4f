"""Signed requests to a bucket, for what obstore does not offer: multipart uploads with conditions,
and copies of parts.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from lakebed.engines.files.s3_errors import error_code
from lakebed.engines.files.s3_signing import AwsKeys, S3Request, encoded_path, signed_headers
from lakebed.errors import FilesRefused, FilesUnreachable
from lakebed.settings import FilesSettings, Root
from lakebed.work.retry import retry

_ATTEMPTS = 4


class ConditionFailed(Exception):
    """The server says that the condition of a request does not hold."""


class NotKnown(Exception):
    """The server does not know the request, or its condition."""


class NotThere(Exception):
    """The server does not know the key or the upload."""


@dataclass(frozen=True)
class Response:
    headers: Mapping[str, str]
    text: str


class S3Requests:
    """Requests for keys below a root, retried while the server does not answer."""

    def __init__(
        self, root: Root, settings: FilesSettings, where: str, keys: Callable[[], AwsKeys]
    ) -> None:
        self._root, self._settings, self.where, self._keys = root, settings, where, keys
        self._bucket_url = _bucket_url(root, settings)

    def copy_source(self, path: str) -> str:
        """A path as the header of a copy names it."""
        return f"/{self._root.bucket}/{encoded_path(self._key(path))}"

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """The server's answer; what it may have done although its answer was lost is asked for
        again.
        """
        url = f"{self._bucket_url}/{encoded_path(self._key(path))}"
        request = S3Request(method, url, query, headers or {}, body)
        return retry(lambda: self._send(request), attempts=_ATTEMPTS, pause=_pause)

    def _key(self, path: str) -> str:
        return f"{self._root.prefix}/{path}" if self._root.prefix else path

    def _send(self, request: S3Request) -> Response:
        signed = signed_headers(
            request, self._keys(), region=self._settings.region, now=datetime.now(UTC)
        )
        asked = Request(  # noqa: S310 - the bucket's address is http or https
            f"{request.url}?{request.query_text}",
            data=request.body if request.method != "DELETE" else None,
            headers={"Content-Type": "application/octet-stream", **signed},
            method=request.method,
        )
        try:
            with urlopen(asked, timeout=self._settings.timeout_seconds) as answer:  # noqa: S310
                response = Response(dict(answer.headers), answer.read().decode())
        except HTTPError as error:
            with error:
                raise self._refusal(error.code, error.read().decode(errors="replace")) from None
        except (OSError, HTTPException) as error:
            raise FilesUnreachable(self.where, f"{error}.") from error
        if "<Error>" in response.text:  # a long request is answered with 200 before it is done
            raise self._refusal(500, response.text)
        return response

    def _refusal(self, status: int, text: str) -> Exception:
        code = error_code(text)
        reason = f"{code or 'the server answered'} ({status})."
        if status == 412 or code == "PreconditionFailed":
            return ConditionFailed(reason)
        if status == 404 and code != "NoSuchBucket":
            return NotThere(reason)
        if status == 501:
            return NotKnown(reason)
        waits = status >= 500 or status in {408, 409, 429}
        return (FilesUnreachable if waits else FilesRefused)(self.where, reason)


def delete_if(requests: S3Requests, path: str, etag: str) -> None:
    """Delete a file if it still has this etag."""
    try:
        requests.send("DELETE", path, {}, headers={"If-Match": etag})
    except (ConditionFailed, NotThere):
        return
    except NotKnown:  # what was checked before has to do
        requests.send("DELETE", path, {})


def _bucket_url(root: Root, settings: FilesSettings) -> str:
    """As obstore addresses a bucket."""
    endpoint = (
        settings.endpoint
        or os.environ.get("AWS_ENDPOINT_URL", "")
        or os.environ.get("AWS_ENDPOINT", "")
    ).rstrip("/")
    if endpoint:
        return f"{endpoint}/{root.bucket}" if settings.path_style else endpoint
    if settings.path_style:
        return f"https://s3.{settings.region}.amazonaws.com/{root.bucket}"
    return f"https://{root.bucket}.s3.{settings.region}.amazonaws.com"


def _pause(attempt: int) -> float:
    return float(0.1 * 2**attempt)
