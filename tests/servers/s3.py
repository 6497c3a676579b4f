"""What a test must know of an S3 server."""

from dataclasses import dataclass
from uuid import uuid4

from pydantic import SecretStr

from lakebed.settings import FilesSettings, Root

REGION = "us-east-1"


@dataclass(frozen=True)
class S3Server:
    """A running S3 server with one bucket."""

    endpoint: str
    access_key_id: str
    secret_access_key: str
    bucket: str
    pid: int
    region: str = REGION

    @property
    def settings(self) -> FilesSettings:
        """How Lakebed is told to reach it."""
        return FilesSettings(
            endpoint=self.endpoint,
            region=self.region,
            access_key_id=SecretStr(self.access_key_id),
            secret_access_key=SecretStr(self.secret_access_key),
        )

    def fresh_prefix(self) -> "Bucket":
        """A prefix nobody has used."""
        return Bucket(server=self, prefix=f"t-{uuid4().hex[:12]}")


@dataclass(frozen=True)
class Bucket:
    """A test's own place on an S3 server."""

    server: S3Server
    prefix: str

    @property
    def url(self) -> str:
        return f"s3://{self.server.bucket}/{self.prefix}"

    @property
    def root(self) -> Root:
        return Root.parse(self.url)

    @property
    def settings(self) -> FilesSettings:
        return self.server.settings
