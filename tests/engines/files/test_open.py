"""Which store a root means, and what opening it costs."""

import subprocess
import sys
from pathlib import Path

from lakebed.engines.files import FolderFiles, open_files
from lakebed.settings import FilesSettings, Root


def test_a_folder_root_opens_a_folder(tmp_path: Path) -> None:
    files = open_files(Root.parse(tmp_path), FilesSettings())
    assert isinstance(files, FolderFiles)
    assert files.where == str(tmp_path)


def test_opening_a_bucket_asks_nothing_of_it_yet_and_shows_no_secret() -> None:
    settings = FilesSettings.model_validate(
        {"endpoint": "http://127.0.0.1:1", "access_key_id": "k", "secret_access_key": "canary"}
    )
    files = open_files(Root.parse("s3://lake/shop"), settings)
    assert files.where == "s3://lake/shop at http://127.0.0.1:1"
    assert "canary" not in repr(vars(files))


def test_a_folder_lake_never_loads_the_library_for_buckets() -> None:
    ask = (
        "import sys; from lakebed.engines.files import open_files; from lakebed.settings import"
        " FilesSettings, Root;open_files(Root.parse('.'), FilesSettings()); print('obstore' in"
        " sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", ask], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "False"
    )
