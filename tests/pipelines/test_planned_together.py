"""What a plan of tables says that are published together. No Spark."""

from pathlib import Path

from tests.support.lakes.pipeline_lake import TestLake


def test_tables_that_are_published_together_are_not_tried_again_one_by_one(tmp_path: Path) -> None:
    shop = TestLake(tmp_path / "lake")
    for name in ("bronze.a", "bronze.b"):
        shop.pipeline(name, "SELECT 1 AS id", "max_retries: 2\n")

    def conditional(*names: str, together: bool) -> list[list[str]]:
        plans = shop.lake.plan(*names, together=together)
        return [[step.kind for step in plan.otherwise] for plan in plans]

    assert conditional(together=False) == [["StartOver", "TryAgain"]] * 2
    assert conditional(together=True) == [["StartOver"]] * 2
    assert conditional("bronze.a", together=True) == [["StartOver", "TryAgain"]]
    shop.lake.close()
