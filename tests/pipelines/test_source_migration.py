"""The partitions of a table that a pipeline declares: its config, the table and the next run agree."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakebed.cli.main import app
from lakebed.errors import UsageError
from tests.support.lakes.source_lake import CONFIG, NAME, SourceLake

pytestmark = [pytest.mark.spark]
BY_YEAR = CONFIG.replace(", {name: geo, type: VARCHAR}", "")


def said(lake: SourceLake, *words: str) -> str:
    answer = CliRunner().invoke(app, ["--lake", str(lake.folder), "table", "migrate", *words])
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_a_source_moves_onto_what_its_config_declares_and_the_next_run_has_nothing_to_do(
    tmp_path: Path, spark_home: Path
) -> None:
    lake = SourceLake(tmp_path / "lake")
    lake.put_values("CA1_2020_COUNTY", 1, 2, 3)
    lake.put_values("CA1_2021_COUNTY", 4, 5)
    lake.ran()
    with pytest.raises(UsageError, match=r"declares that .* by year, geo, not by geo"):
        lake.lake.tables.migrate(NAME, partition_by="geo")
    lake.configure(BY_YEAR)
    size = str(lake.lake.tables.plan_migration(NAME).bytes)  # a batch ends once it is half full
    assert "2 batches" in said(lake, NAME, "--batch-size", size, "--dry-run")
    done = said(lake, NAME, "--batch-size", size)
    assert "move batch 1 of 2, year=2020/geo=00 … year=2020/geo=02: 3 rows, checksum" in done
    assert "all 5 rows are the same as before" in done
    lake.check()
    assert lake.lake.tables.describe(lake.table(NAME)).partition_by == ("year",)
    assert lake.ran() == {}, "its batches are known to be unchanged"
    lake.put_values("CA1_2021_COUNTY", 6)
    assert lake.ran() == {"year=2021": "changed"}
    lake.check()
    assert "already partitioned so: year" in said(lake, NAME)
    with pytest.raises(UsageError, match="written to since"):
        lake.lake.tables.undo_migration(NAME)
    lake.lake.close()
