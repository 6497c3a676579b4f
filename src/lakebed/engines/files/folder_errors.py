"""The operating system's errors as Lakebed's."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from lakebed.errors import BadName, FileMissing, FilesRefused, FilesUnreachable

_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def translated(root: str, path: str) -> Iterator[None]:
    """Raise Lakebed's error for what the operating system says about a path below a root."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise FileMissing(path) from None
    except IsADirectoryError:
        raise BadName("path", path, "a folder has this name") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise BadName("path", path, "it is longer than the file system allows") from None
        refusal = FilesRefused if error.errno in _NOT_ALLOWED else FilesUnreachable
        raise refusal(root, f"{error.strerror} ({path}).") from error
