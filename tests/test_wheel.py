"""The wheel that operators install, as docs/production.md says."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

from tests.test_docs import ROOT

PROGRAM = "from lakebed.cli import main; main()"


def test_the_wheel_has_all_that_a_lake_needs(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("lakebed-*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    files = (ROOT / "src" / "lakebed").rglob("*")
    ours = {file.relative_to(ROOT / "src") for file in files if file.is_file()}
    missing = {file for file in ours if not (tmp_path / "installed" / file).exists()}
    assert {file.suffix for file in missing} <= {".pyc"}

    def lakebed(*command: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed")}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *command],
            cwd=tmp_path,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    lakebed("init", "lake", "--template", "shop")
    assert "ecommerce.gold.revenue" in lakebed("plan", "--lake", "lake")


def test_the_page_on_production_lists_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "docs" / "production.md").read_text()
    table = page.split("| Extra |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {
        *project["optional-dependencies"]
    }
