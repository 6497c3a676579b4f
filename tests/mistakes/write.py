"""Writes the tables of mistakes anew: `python -m tests.mistakes.write`."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from lakebed.engines.spark import close_session, open_session
from lakebed.settings import Root, Settings
from tests.mistakes import data, generated

HERE = Path(__file__).parent


def main() -> None:
    (HERE / "settings.txt").write_text(generated.table())
    (HERE / "files.txt").write_text(data.table_of_looks())
    with TemporaryDirectory() as text:
        folder = Path(text)
        (folder / ".data").mkdir()
        root = Root.parse(folder)
        session = open_session(Settings(), root, environment=os.environ, logs=folder)
        (HERE / "files_read.txt").write_text(data.table_of_reads(session, folder))
        close_session(session)


if __name__ == "__main__":
    main()
