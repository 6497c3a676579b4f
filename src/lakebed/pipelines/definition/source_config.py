"""Settings of pipelines about batches and layouts, under all their names."""

from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BeforeValidator

from lakebed.derived.spec import LayoutSpec, read_layout

BATCH_COLUMNS = AliasChoices("batch_partition_columns", "batch_by")
LAYOUTS = AliasChoices("alternate_partitions", "partition_alternates", "layouts")


def _layouts(given: Any) -> Any:
    return [read_layout(one) for one in given] if isinstance(given, list | tuple) else given


def _named_once(layouts: tuple[LayoutSpec, ...]) -> tuple[LayoutSpec, ...]:
    names = [layout.label.casefold() for layout in layouts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two layouts have the name {twice}: give each its own `name`")
    return layouts


Layouts = Annotated[tuple[LayoutSpec, ...], BeforeValidator(_layouts), AfterValidator(_named_once)]
