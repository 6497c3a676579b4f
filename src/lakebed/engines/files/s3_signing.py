"""AWS Signature Version 4 for the few requests that obstore does not offer."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote, urlsplit


@dataclass(frozen=True)
class AwsKeys:
    """Who we are to the server; temporary keys have a token."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    token: str = field(default="", repr=False)


@dataclass(frozen=True)
class S3Request:
    """A request for one key. `url` is without a query."""

    method: str
    url: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)

    @property
    def query_text(self) -> str:
        """The query as it is sent and signed."""
        pairs = sorted((_encoded(name), _encoded(value)) for name, value in self.query.items())
        return "&".join(f"{name}={value}" for name, value in pairs)


def signed_headers(
    request: S3Request, keys: AwsKeys, *, region: str, now: datetime
) -> dict[str, str]:
    """The request's headers with its signature. `now` is in UTC."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(request.body).hexdigest()
    headers = {name.lower(): value for name, value in request.headers.items()} | {
        "host": urlsplit(request.url).netloc,
        "x-amz-content-sha256": digest,
        "x-amz-date": stamp,
    }
    if keys.token:
        headers["x-amz-security-token"] = keys.token
    scope = f"{stamp[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, _sha256(_canonical(request, headers))])
    signature = hmac.new(_key(keys, region, stamp[:8]), text.encode(), "sha256").hexdigest()
    names = ";".join(sorted(headers))
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={keys.access_key_id}/{scope}, SignedHeaders={names},"
        f" Signature={signature}"
    )
    return headers


def encoded_path(path: str) -> str:
    """A key as it is sent and signed."""
    return quote(path, safe="/-_.~")


def _canonical(request: S3Request, headers: Mapping[str, str]) -> str:
    lines = [f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)]
    names = ";".join(sorted(headers))
    path = urlsplit(request.url).path or "/"
    return "\n".join(
        [
            request.method,
            path,
            request.query_text,
            *lines,
            "",
            names,
            headers["x-amz-content-sha256"],
        ]
    )


def _key(keys: AwsKeys, region: str, day: str) -> bytes:
    key = f"AWS4{keys.secret_access_key}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), "sha256").digest()
    return key


def _encoded(text: str) -> str:
    return quote(text, safe="-_.~")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
