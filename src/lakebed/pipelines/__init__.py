"""Pipelines: from files to tables that nobody sees until their gates pass."""

from lakebed.pipelines.ahead import Ahead
from lakebed.pipelines.build import Build, run_each
from lakebed.pipelines.config import PipelineConfig
from lakebed.pipelines.graph import Graph, Node, build_graph
from lakebed.pipelines.hand import Manner, alter_by_hand, change_by_hand, keys_given, spec_by_hand
from lakebed.pipelines.heal import read_log
from lakebed.pipelines.load import load_pipelines, read_pipeline
from lakebed.pipelines.look import Preview, judged, preview
from lakebed.pipelines.pin import refuse_unknown_refs
from lakebed.pipelines.pin_zones import read_zone
from lakebed.pipelines.plan import Plan, Step
from lakebed.pipelines.select import select
from lakebed.pipelines.spec import PipelineSpec
from lakebed.pipelines.together import run_together
from lakebed.pipelines.tools import Hand, Order, Tools, When, Workbench

__all__ = [
    "Ahead",
    "Build",
    "Graph",
    "Hand",
    "Manner",
    "Node",
    "Order",
    "PipelineConfig",
    "PipelineSpec",
    "Plan",
    "Preview",
    "Step",
    "Tools",
    "When",
    "Workbench",
    "alter_by_hand",
    "build_graph",
    "change_by_hand",
    "judged",
    "keys_given",
    "load_pipelines",
    "preview",
    "read_log",
    "read_pipeline",
    "read_zone",
    "refuse_unknown_refs",
    "run_each",
    "run_together",
    "select",
    "spec_by_hand",
]
