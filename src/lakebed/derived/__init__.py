"""Tables that are computed from others and kept in step with them: layouts."""

from lakebed.derived.freshness import Freshness, compare_batches
from lakebed.derived.identity import Layout, find_layouts
from lakebed.derived.spec import LayoutSpec

__all__ = ["Freshness", "Layout", "LayoutSpec", "compare_batches", "find_layouts"]
