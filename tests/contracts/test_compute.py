"""Classic Spark keeps the contract of `Compute`; `tests/engines/spark/test_remote.py` asks a
Connect session the same.
"""

from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.engines.spark import SparkCompute, Staging
from lakebed.settings import Settings
from tests.contracts.compute import broken_promises
from tests.support.lakes.spark_lakes import new_lake
from tests.support.spark_sessions import OpenSpark


@pytest.mark.spark
def test_a_classic_session_keeps_the_contract_and_leaves_no_file_behind(
    open_spark: OpenSpark, tmp_path: Path
) -> None:
    root = new_lake(tmp_path / "lake")
    files = FolderFiles(root.folder)
    closed: list[bool] = []
    session = open_spark(Settings(), root)
    compute = SparkCompute(
        session, Staging(files, root, "run"), run_id="run", close=lambda: closed.append(True)
    )
    broken = broken_promises(compute, tmp_path)
    assert not broken, "\n".join(broken.values())
    assert list(files.list(".data/staging"))
    compute.close()
    assert (closed, list(files.list(".data/staging"))) == ([True], [])
