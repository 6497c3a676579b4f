"""The files of a build that other tools read, and that `retry` goes by."""

import json
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from lakebed.errors import FileMissing, LakebedError
from lakebed.names import TableName
from lakebed.pipelines import PipelineSpec, RunServices
from lakebed.pipelines.lineage.artifacts import MANIFEST, RUN_RESULTS, Invocation, manifest, run_results
from lakebed.ports import Files, RunRecord


def keep_artifacts(
    tools: RunServices,
    specs: Mapping[TableName, PipelineSpec],
    records: tuple[RunRecord, ...],
    *,
    invocation: str,
    elapsed: float,
    args: Mapping[str, Any],
) -> None:
    """Write `run_results.json` and `manifest.json`; the build is done, so that they cannot be written does not undo it."""
    made = Invocation(invocation, tools.now(), version("lakebed"), elapsed, args)
    with suppress(LakebedError):
        for path, content in ((RUN_RESULTS, run_results(records, made)), (MANIFEST, manifest(specs, made))):
            tools.placement.files.write(path, json.dumps(content, indent=1, default=str, ensure_ascii=False).encode())


def args_of(files: Files, invocation: str) -> dict[str, Any]:
    """How a build was asked for, if it is the one that `run_results.json` tells of."""
    try:
        told = json.loads(files.read(RUN_RESULTS))
    except (FileMissing, ValueError):
        return {}
    return dict(told["args"]) if told["metadata"]["invocation_id"] == invocation else {}
