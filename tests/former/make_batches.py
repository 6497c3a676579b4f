"""Makes `batches.tar.gz`: a lake as Lakebed wrote it at commit 8a5f5ea, with a source, layouts, a
backfill that was killed half-way, and a build that failed.

Run once, at that commit, as `python -m tests.former.make_batches`; kept to say how the fixture came
to be. What it calls by name is of that commit, and is text here.
"""

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

from tests.former.make import LANDED, SETTINGS, age, killed, lakebed, pack, write

SOURCE = """\
source: "downloads/{table}_{year}_{set}.json"
partitions: {keys: [{name: year, type: INTEGER}]}
batch_partition_columns: [year]
layouts: [{name: by_set, partition_by: set}]
"""
RANGED = (
    "SELECT make_date(year, 6, 1) AS at, value FROM {{ ref('bronze.income') }}\nWHERE make_date(year,"
    " 6, 1) >= {{ batch_start }} AND make_date(year, 6, 1) < {{ batch_end }}\n"
)
PIPELINES = {
    "bronze/income/config.yaml": SOURCE,
    "silver/ranged/pipeline.sql": RANGED,
    "silver/ranged/config.yaml": "batch_column: at\n",
    "silver/words/pipeline.sql": (
        "SELECT count(*) AS n, '{{ var('word', 'none') }}' AS word FROM {{ ref('bronze.income') }}\n"
    ),
    "silver/words/tests/quality/some.sql": "SELECT * FROM {{ this }} WHERE n < 6\n",
}
KILLED_BACKFILL = """
import os, signal, sys
from lakebed.app import open_lake
from lakebed.pipelines import RunListener

published = []

def die(run_id, step, moment):
    if step.kind == "Publish" and moment == "before":
        published.append(step)
        if len(published) == 2:
            os.kill(os.getpid(), signal.SIGKILL)

with open_lake(sys.argv[1]) as lake:
    lake.run(
        "silver.ranged", start="2018-01-01", end="2021-01-01", chunk="year",
        listener=RunListener(on_step=die),
    )
"""


def main() -> None:
    lake = Path(mkdtemp(prefix="former-")) / "lake"
    lakebed("init", lake)
    (lake / "lakebed.yaml").write_text(SETTINGS)
    for path, text in PIPELINES.items():
        write(lake / "shop" / "pipelines" / path, text)
    for year in (2018, 2019, 2020):
        put(lake, "CA1", year, year)
    lakebed("run", "bronze.income", "--lake", lake)
    put(lake, "CA2", 2019, 7)
    lakebed("run", "bronze.income", "--lake", lake)
    killed(KILLED_BACKFILL, lake)
    lakebed("run", "silver.words", "--vars", "word=kept", "--lake", lake, exit_code=1)
    age(lake)
    pack(lake, "batches.tar.gz")
    shutil.rmtree(lake.parent)


def put(lake: Path, table: str, year: int, value: int) -> None:
    file = lake / "downloads" / f"{table}_{year}_COUNTY.json"
    write(file, f'{{"geo": "01", "value": {value}}}\n')
    os.utime(file, (LANDED, LANDED))


if __name__ == "__main__":
    main()
