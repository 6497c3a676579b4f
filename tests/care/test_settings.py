"""How long things are kept: patches over the level above, never below the safe bound."""

import pytest

from lakebed.care import read_own_care
from lakebed.errors import BadPipeline, BadSettings
from lakebed.names import TableName
from lakebed.settings import CareSettings, Root, Settings, TableCare, load_settings
from tests.support.lakes.care_lakes import CareLake

ORDERS = TableName("shop", "silver", "orders")


def load(text: str = "", **environment: str) -> Settings:
    return load_settings(text, environment, root=Root.parse("/lake"))


def test_the_defaults_are_those_of_the_design() -> None:
    care = load().care
    kept = (
        care.runs_max_per_pipeline,
        care.runs_max_age_days,
        care.logs_max_age_days,
        care.verdicts_max_per_gate,
    )
    assert kept == (100, 90, 30, 100)
    assert (care.events_max_age_days, care.dead_branch_max_age_hours, care.interval_minutes) == (
        365,
        6,
        15,
    )
    assert (
        care.snapshot_max_age_days,
        care.orphan_file_max_age_days,
        care.dropped_max_age_days,
    ) == (7, 3, 30)
    assert care.remove_orphans is False


def test_each_setting_comes_from_the_nearest_level_that_says_something() -> None:
    settings = load(
        "care: {snapshot_max_age_days: 10, min_snapshots_to_keep: 2, runs_max_age_days: 11}\n"
        "namespaces: {shop: {care: {min_snapshots_to_keep: 3, runs_max_age_days: 12}}}\n"
        "tables: {shop.silver.orders: {care: {runs_max_age_days: 13}}}\n"
    )
    found = settings.care_for(ORDERS, own=TableCare(compact=False))
    assert (found.snapshot_max_age_days, found.min_snapshots_to_keep, found.runs_max_age_days) == (
        10,
        3,
        13,
    )
    assert (found.compact, found.compact_min_files, found.dropped_max_age_days) == (False, 50, 30)
    other = settings.care_for(TableName("stock", "silver", "orders"))
    assert (other.min_snapshots_to_keep, other.runs_max_age_days) == (2, 11)


def test_a_patch_that_says_the_default_is_a_word_too() -> None:
    """What is said counts, not whether it differs: or nobody could come back to a default."""
    settings = load(
        "care: {snapshot_max_age_days: 30}\ntables: {shop.silver.orders: {care:"
        " {snapshot_max_age_days: 7}}}\n"
    )
    assert settings.care_for(ORDERS).snapshot_max_age_days == 7


def test_setting_one_thing_leaves_all_others_as_they_were() -> None:
    """Upstream's partial update set whatever was left out to zero."""
    patched = load("care: {logs_max_age_days: 5}").care
    assert patched.model_dump() == CareSettings().model_dump() | {"logs_max_age_days": 5}


@pytest.mark.parametrize(
    "text",
    [
        "care: {snapshot_max_age_days: 0.5}",
        "care: {orphan_file_max_age_days: 0}",
        "care: {dropped_max_age_days: -1}",
        "namespaces: {shop: {care: {snapshot_max_age_days: 0.99}}}",
        "tables: {shop.silver.orders: {care: {snapshot_max_age_days: 0}}}",
    ],
)
def test_a_retention_below_the_safe_bound_is_refused(text: str) -> None:
    with pytest.raises(BadSettings) as refusal:
        load(text)
    assert "retention below the safe bound" in refusal.value.what
    assert refusal.value.line == 1
    assert refusal.value.safe == "Nothing was changed."


def test_a_variable_is_held_to_the_same_bound() -> None:
    with pytest.raises(BadSettings, match="below the safe bound"):
        load(LAKEBED_CARE_SNAPSHOT_MAX_AGE_DAYS="0.1")
    assert load(LAKEBED_CARE_SNAPSHOT_MAX_AGE_DAYS="1").care.snapshot_max_age_days == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\ncare:\n  snapshot_max_age_days: 0.5\n", "below the safe bound"),
        ("a: 1\ncare:\n  snapshot_max_age: 9\n", "Did you mean snapshot_max_age_days"),
        (
            "a: 1\ncare:\n  interval_minutes: 9\n",
            "there is no setting",
        ),  # the lake's own, not a table's
    ],
)
def test_a_pipelines_own_care_is_refused_at_its_line(text: str, said: str) -> None:
    with pytest.raises(BadPipeline) as refusal:
        read_own_care(text, where="config.yaml")
    assert refusal.value.line == 3
    assert said in str(refusal.value)


def test_a_pipeline_with_a_bad_retention_does_not_load(cared: CareLake) -> None:
    folder = cared.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    (folder / "pipeline.sql").write_text("SELECT 1 AS id")
    (folder / "config.yaml").write_text("care:\n  snapshot_max_age_days: 0.5\n")
    with pytest.raises(BadPipeline) as refusal:
        cared.lake.plan()
    assert refusal.value.line == 2
    (folder / "config.yaml").write_text("care:\n  snapshot_max_age_days: 30\n")
    assert len(cared.lake.plan()) == 1


def test_who_says_what_can_be_asked(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    folder = cared.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("care: {snapshot_max_age_days: 30}\n")
    view = cared.lake.care_settings("orders")
    assert view.overrides == {"pipeline": {"snapshot_max_age_days": 30}}
    assert (view.system["snapshot_max_age_days"], view.effective["snapshot_max_age_days"]) == (
        7,
        30,
    )


def test_a_deleted_drafts_release_keeps_its_say(cared: CareLake) -> None:

    cared.make("silver.orders", [1])
    folder = cared.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    (folder / "pipeline.sql").write_text("SELECT 1 AS id")
    (folder / "config.yaml").write_text("care: {snapshot_max_age_days: 30}\n")
    cared.lake.pipelines.release("silver.orders")
    for file in folder.iterdir():
        file.unlink()
    assert cared.lake.care_settings("orders").effective["snapshot_max_age_days"] == 30
