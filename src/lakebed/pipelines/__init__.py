"""Pipelines: from files to tables that nobody sees until their gates pass."""

from lakebed.pipelines.build import Build, run_each
from lakebed.pipelines.config import PipelineConfig
from lakebed.pipelines.graph import Graph, Node, build_graph
from lakebed.pipelines.heal import read_log
from lakebed.pipelines.load import load_pipelines, read_pipeline
from lakebed.pipelines.look import Preview, compiled, judged, preview
from lakebed.pipelines.pin import Built, pin, read_zone, refuse_unknown_refs
from lakebed.pipelines.plan import Plan, Step, plan_run
from lakebed.pipelines.select import select
from lakebed.pipelines.spec import PipelineSpec
from lakebed.pipelines.together import run_together
from lakebed.pipelines.tools import Order, Tools, When, Workbench

__all__ = [
    "Build",
    "Built",
    "Graph",
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
    "build_graph",
    "compiled",
    "judged",
    "load_pipelines",
    "pin",
    "plan_run",
    "preview",
    "read_log",
    "read_pipeline",
    "read_zone",
    "refuse_unknown_refs",
    "run_each",
    "run_together",
    "select",
]
