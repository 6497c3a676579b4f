"""Files of pipelines that are wrong: all are told together, and they stop only what needs them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.errors import BadPipeline, LakebedError, SeveralFaults, UsageError
from lakebed.pipelines.running.manual import WriteOptions
from lakebed.pipelines.running.manual_writes import write_rows
from lakebed.presentation.values import error_json
from tests.cli.json_shapes import described, differences
from tests.support.lakes.pipeline_lake import TestLake


@pytest.fixture
def drafts(tmp_path: Path) -> Iterator[TestLake]:
    """A lake with one good pipeline; nothing runs in it, so it needs no Spark."""
    made = TestLake(tmp_path / "lake")
    made.pipeline("gold.good", "SELECT 1 AS id")
    yield made
    assert "spark" not in vars(made.lake)
    made.lake.close()


def _break(drafts: TestLake) -> None:
    drafts.pipeline("gold.config", "SELECT 1 AS id", "unique_ky: id\n")
    drafts.pipeline("gold.template", "SELECT {{ oops")
    drafts.pipeline("gold.column", "SELECT idd FROM {{ ref('gold.good') }}")
    drafts.pipeline("weird.layer", "SELECT 1 AS id")
    drafts.pipeline("gold.gate", "SELECT 1 AS id", gates={"g": "-- @severty: warn\nSELECT 1"})
    drafts.pipeline("gold.reader", "SELECT id FROM {{ ref('gold.config') }}")


def _told(drafts: TestLake, *selectors: str, **options: object) -> list[str]:
    with pytest.raises(UsageError) as refused:
        drafts.lake.plan(*selectors, **options)  # type: ignore[arg-type]
    faults = getattr(refused.value, "faults", (refused.value,))
    return sorted(fault.where.removeprefix("shop/pipelines/") for fault in faults)


def test_everything_that_is_wrong_with_a_lakes_pipelines_is_told_at_once(drafts: TestLake) -> None:
    _break(drafts)
    told = [
        "gold/column/pipeline.sql:1",
        "gold/config/config.yaml:1",
        "gold/gate/tests/quality/g.sql:1",
        "gold/template/pipeline.sql:1",
        "weird/layer",
    ]
    assert _told(drafts) == told
    assert _told(drafts, "good+") == told  # who knows what they read
    with pytest.raises(SeveralFaults, match="4 pipelines cannot run") as refused:
        drafts.lake.run()
    for word in ("there is no setting 'unique_ky'", "Did you mean severity?", "no layer 'weird'"):
        assert word in str(refused.value)
    shown, shapes = error_json(refused.value), described()
    assert len(shown["error"]["faults"]) == 4
    assert differences(shown, shapes["error"], shapes) == []
    assert _told(drafts, exclude=["gold.*"]) == ["weird/layer"]


def test_what_is_wrong_stops_only_those_that_need_it(drafts: TestLake) -> None:
    _break(drafts)
    for name in ("good", "gold.good", "+gold.good", "gold.goo*"):
        (plan,) = drafts.lake.plan(name)
        assert plan.table.name == "good"
    assert drafts.lake.pipelines.compile("gold.good")
    assert _told(drafts, "gold.template") == ["gold/template/pipeline.sql:1"]
    for ask in ("gold.reader", "+gold.reader"):
        assert _told(drafts, ask) == ["gold/config/config.yaml:1"]
    with pytest.raises(BadPipeline, match="unique_ky"):
        drafts.lake.run("gold.reader")
    with pytest.raises(BadPipeline, match="unique_ky"):  # its gates are not known
        write_rows(
            drafts.lake.pipelines.services,
            drafts.table("gold.config"),
            [{"id": 1}],
            WriteOptions(),
            gates=True,
        )


def test_a_cycle_stops_only_those_that_need_its_tables(drafts: TestLake) -> None:
    drafts.pipeline("silver.a", "SELECT id FROM {{ ref('silver.b') }}")
    drafts.pipeline("silver.b", "SELECT id FROM {{ ref('silver.a') }}")
    drafts.pipeline("gold.far", "SELECT id FROM {{ ref('gold.near') }}")
    drafts.pipeline("gold.near", "SELECT id FROM {{ ref('silver.a') }}")
    assert drafts.lake.plan("gold.good")
    for selector in ("gold.far", "silver.a", "silver.*"):
        with pytest.raises(BadPipeline, match="in a cycle"):
            drafts.lake.plan(selector)


def test_no_file_is_archived_while_a_pipeline_cannot_be_read_that_may_read_it(
    drafts: TestLake,
) -> None:
    from lakebed.pipelines.zone_readers import drafts_and_releases, zone_readers

    drafts.pipeline("gold.good", "SELECT * FROM {{ landing_zone('orders') }}")
    services = drafts.lake.pipelines.services
    specs = drafts.lake.pipelines.load().specs
    assert [reader.table.name for reader in zone_readers(services)] == ["good"]
    drafts.pipeline("weird.layer", "SELECT * FROM {{ landing_zone('orders') }}")
    assert [reader.table.name for reader in zone_readers(services)] == ["good", "layer"]
    drafts.pipeline("gold.config", "SELECT * FROM {{ landing_zone('orders') }}", "unique_ky: id\n")
    for ask in (lambda: zone_readers(services), lambda: drafts_and_releases(specs, services)):
        with pytest.raises(LakebedError, match="which pipelines read the zones is not known"):
            ask()


MISPLACED = [
    ("gold/good/tests/x.sql", "move it to tests/quality/x.sql"),
    ("gold/good/tests/quality/x.SQL", "move it to tests/quality/x.sql"),
    ("gold/good/gate.sql", "A gate is in tests/quality: tests/quality/gate.sql"),
    ("gold/good/extra.sql", "another pipeline is shop/pipelines/gold/extra/pipeline.sql"),
    ("gold/good/schema.yml", "are in config.yaml"),
    ("gold/good/macros/m.sql", "Write {% macro … %} into the pipeline"),
    ("gold/good/seed.csv", "lakebed zone put"),
]
BESIDE = [
    ("pipelines/gold/extra.sql", "shop/pipelines/gold/extra/pipeline.sql"),
    ("pipelines/extra.py", "shop/pipelines/LAYER/extra/pipeline.py"),
    ("pipelines/gold/schema.yml", "in config.yaml, in the folder of each"),
    ("pipelines/gold/seed.csv", "lakebed zone put"),
    ("macros/m.sql", "Write {% macro … %} into the pipeline"),
    ("seeds/s.csv", "lakebed zone put"),
    ("models/staging/m.sql", "NAMESPACE/pipelines/LAYER/NAME/pipeline.sql"),
    ("tests/t.sql", "tests/quality/"),
    ("../macros/m.sql", "Write {% macro … %} into the pipeline"),
]


def _put(drafts: TestLake, path: str, text: str = "SELECT 1") -> Path:
    file = drafts.folder / "shop" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_file_in_a_wrong_place_of_a_pipelines_folder_is_told(drafts: TestLake) -> None:
    for path, advice in MISPLACED:
        file = _put(drafts, f"pipelines/{path}")
        for ask in (drafts.lake.plan, drafts.lake.run, drafts.lake.pipelines.release):
            with pytest.raises(BadPipeline, match="nothing reads this file here") as refused:
                ask("gold.good")
            assert refused.value.where == f"shop/pipelines/{path}"
            assert advice in refused.value.next
        file.unlink()


def test_a_file_beside_the_pipelines_is_told_when_all_are_meant(drafts: TestLake) -> None:
    for path, advice in BESIDE:
        file = _put(drafts, path)
        with pytest.raises(BadPipeline, match="nothing reads this") as refused:
            drafts.lake.plan()
        assert advice in refused.value.next
        assert drafts.lake.plan("gold.good")
        file.unlink()


def test_files_that_do_not_look_like_a_pipelines_may_lie_anywhere(drafts: TestLake) -> None:
    for path in ("pipelines/README.md", "pipelines/gold/__init__.py", "pipelines/gold/good/x.md"):
        _put(drafts, path)
    for path in ("pipelines/gold/.x.sql", "notebooks/n.sql", "macros/README.md", "../tests/t.sql"):
        _put(drafts, path)
    drafts.pipeline("gold.code", "def run(spark, context):\n    return spark.range(1)\n")
    for path in ("query.sql", "settings.yaml", "rows.csv"):  # which its code may read
        _put(drafts, f"pipelines/gold/code/{path}")
    assert len(drafts.lake.plan()) == 2
