"""Files made of parts: uploaded from a stream, or copied by the server from another file.

The file appears whole when the upload is completed, on condition that no file has its path. An
upload that fails is aborted, so that the server keeps no parts of it; those of a killed process
stay until the bucket's lifecycle rule removes them.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from lakebed.engines.files.s3_requests import ConditionFailed, NotThere, S3Requests
from lakebed.errors import FileExists, FileMissing, FilesUnreachable, LakebedError

MOST_PARTS = 10_000  # S3 takes no more


@dataclass
class MultipartUpload:
    """A file that is being made of parts."""

    requests: S3Requests
    path: str
    upload_id: str
    etags: list[str] = field(default_factory=list)

    def add(self, data: bytes) -> None:
        """Upload the next part."""
        response = self.requests.send("PUT", self.path, self._next(), body=data)
        self.etags.append(response.headers["ETag"])

    def copy(self, source: str, etag: str, start: int, end: int) -> None:
        """Let the server copy the next part from a range of a file; `FileMissing` if the file no
        longer has this etag.
        """
        headers = {
            "x-amz-copy-source": self.requests.copy_source(source),
            "x-amz-copy-source-range": f"bytes={start}-{end - 1}",
            "x-amz-copy-source-if-match": etag,
        }
        try:
            response = self.requests.send("PUT", self.path, self._next(), headers=headers)
        except (ConditionFailed, NotThere):
            raise FileMissing(source) from None
        self.etags.append(_text(response.text, "ETag"))

    def complete(self, *, replaces: bool = False) -> None:
        """Make the file appear; `FileExists` if there is one that it may not replace."""
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(etag)}</ETag></Part>"
            for number, etag in enumerate(self.etags, 1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        try:
            self.requests.send(
                "POST",
                self.path,
                {"uploadId": self.upload_id},
                headers={} if replaces else {"If-None-Match": "*"},
                body=body,
            )
        except ConditionFailed:
            raise FileExists(self.path) from None
        except NotThere as gone:  # it was completed and the answer lost, or somebody aborted it
            raise FilesUnreachable(self.requests.where, f"the upload is gone: {gone}") from None

    def abort(self) -> None:
        """Remove the parts; what cannot be removed now is left to the bucket's lifecycle rule."""
        with suppress(LakebedError, NotThere):
            self.requests.send("DELETE", self.path, {"uploadId": self.upload_id})

    def _next(self) -> dict[str, str]:
        return {"partNumber": str(len(self.etags) + 1), "uploadId": self.upload_id}


@contextmanager
def multipart_upload(
    requests: S3Requests, path: str, *, metadata: dict[str, str]
) -> Iterator[MultipartUpload]:
    """Start an upload; it is aborted if the block fails."""
    headers = {f"x-amz-meta-{name}": value for name, value in metadata.items()}
    response = requests.send("POST", path, {"uploads": ""}, headers=headers)
    upload = MultipartUpload(requests, path, _text(response.text, "UploadId"))
    try:
        yield upload
    except BaseException:
        upload.abort()
        raise


def ranges(size: int, part: int) -> Iterator[tuple[int, int]]:
    """Start and end of each part of a file of this size."""
    part = max(part, -(-size // MOST_PARTS))
    return ((start, min(start + part, size)) for start in range(0, size, part))


def _text(document: str, name: str) -> str:
    for element in ElementTree.fromstring(document).iter():  # noqa: S314 - our own server's answer
        if element.tag.rpartition("}")[2] == name and element.text:
            return element.text
    raise FilesUnreachable("S3", f"its answer has no {name}.")
