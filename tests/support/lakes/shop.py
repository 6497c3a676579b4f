"""A small lake for tests of commands: two zones, two bronze tables, one silver with gates, one
gold.
"""

import os
import time
from pathlib import Path

from typer.testing import CliRunner, Result

from lakebed.cli.main import app

FILES = {
    "bronze/orders/pipeline.sql": (
        "-- @merge_strategy: append_only\n-- @archive_landing_zones: true\n-- @tags: daily\n"
        "SELECT id, country, amount FROM {{ landing_zone('orders') }}\n"
    ),
    "bronze/rates/pipeline.sql": "SELECT country, rate FROM {{ landing_zone('rates') }}\n",
    "silver/orders/pipeline.sql": (
        "-- @merge_strategy: incremental\n-- @unique_key: id\n-- @tags: daily\nSELECT o.id,"
        " o.amount * r.rate AS eur\nFROM {{ ref('bronze.orders') }} o JOIN {{ ref('bronze.rates')"
        " }} r USING (country)\n"
    ),
    "silver/orders/tests/quality/positive.sql": (
        "-- @description: orders are worth something\n"
        "SELECT id, eur FROM {{ this }} WHERE eur < {{ var('least', 0) }}\n"
    ),
    "silver/orders/tests/quality/cheap.sql": (
        "-- @severity: warn\nSELECT id, eur FROM {{ this }} WHERE eur < 2\n"
    ),
    "gold/total/pipeline.sql": "SELECT sum(eur) AS total FROM {{ ref('silver.orders') }}\n",
}
LANDING = {
    "orders/day1.csv": "id,country,amount\n1,DE,10.0\n2,US,3.0\n3,US,1.0\n",
    "orders/torn.json": '{"id": 4, "country": "DE", "amo',
    "rates/rates.csv": "country,rate\nDE,1.0\nUS,0.5\n",
}


def lakebed(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


def write(lake: Path, path: str, text: str) -> None:
    """A file of the namespace shop; it came some time ago."""
    file = lake / "shop" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (time.time() - 60, time.time() - 60))


def make_shop(lake: Path) -> Path:
    assert lakebed("init", str(lake)).exit_code == 0
    for path, text in FILES.items():
        write(lake, f"pipelines/{path}", text)
    for path, text in LANDING.items():
        write(lake, f"landing/{path}", text)
    return lake
