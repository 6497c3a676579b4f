"""A bucket's errors as Lakebed's."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)

from lakebed.errors import FileExists, FileMissing, FilesRefused, FilesUnreachable, UnsafeStore

_NO_BUCKET = "NoSuchBucket"


@contextmanager
def answers(where: str, path: str) -> Iterator[None]:
    """Raise Lakebed's error for what the server says about a path."""
    try:
        yield
    except PreconditionError:  # a different file is there
        raise FileMissing(path) from None
    except (FileNotFoundError, NotFoundError) as error:
        if _NO_BUCKET in str(error):
            raise FilesRefused(where, _reason(error)) from error
        raise FileMissing(path) from None
    except (PermissionError, PermissionDeniedError, UnauthenticatedError) as error:
        raise FilesRefused(where, _reason(error)) from error
    except AlreadyExistsError:
        raise FileExists(path) from None
    except BaseError as error:
        if "501 Not Implemented" in str(error):
            raise UnsafeStore(
                where, f"it does not know a request Lakebed relies on: {_reason(error)}"
            ) from error
        answered = FilesRefused if _NO_BUCKET in str(error) else FilesUnreachable
        raise answered(where, _reason(error)) from error


def _reason(error: Exception) -> str:
    """The first line of an error and the server's error code, without what the library adds."""
    text = str(error)
    if _NO_BUCKET in text:
        return "there is no such bucket."
    if (told := re.search(r"credential provider: NoKeys: (.*)", text)) is not None:
        return told[1]
    first = (
        text.splitlines()[0].removeprefix("Generic S3 error: ").partition(": <?xml")[0].rstrip(" :")
    )
    code = error_code(text)
    return f"{first} ({code})." if code else f"{first}."


def error_code(text: str) -> str:
    """The code in a server's error document, such as NoSuchKey."""
    code = re.search(r"<Code>(\w+)</Code>", text)
    return code[1] if code else ""
