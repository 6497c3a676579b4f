"""Pipelines: from files to tables that nobody sees until their gates pass."""

from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.pipelines.definition.graph import Graph, GraphNode, build_graph
from lakebed.pipelines.definition.load import read_pipeline
from lakebed.pipelines.definition.select import select
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import ManualChange, RunListener, RunOptions, When
from lakebed.pipelines.pipelines import Pipelines
from lakebed.pipelines.planning.pin_inputs import require_known_refs
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.planning.steps import RunStep
from lakebed.pipelines.preview.lookahead import Lookahead
from lakebed.pipelines.preview.preview import Preview, preview, run_gates
from lakebed.pipelines.running.builds.build import run_each, run_together
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.builds.run_selected import BuildResult
from lakebed.pipelines.running.heal import read_log
from lakebed.pipelines.running.manual import (
    WriteOptions,
    alter_manually,
    apply_manual_change,
    keys_given,
    manual_spec,
)
from lakebed.pipelines.runs import Runs
from lakebed.pipelines.services import RunServices

__all__ = [
    "Build",
    "BuildResult",
    "Graph",
    "GraphNode",
    "Lookahead",
    "ManualChange",
    "PipelineConfig",
    "PipelineSpec",
    "Pipelines",
    "Preview",
    "RunListener",
    "RunOptions",
    "RunPlan",
    "RunServices",
    "RunStep",
    "Runs",
    "When",
    "WriteOptions",
    "alter_manually",
    "apply_manual_change",
    "build_graph",
    "keys_given",
    "manual_spec",
    "preview",
    "read_log",
    "read_pipeline",
    "require_known_refs",
    "run_each",
    "run_gates",
    "run_together",
    "select",
]
