"""The files of a build that other tools read, and from which `lakebed retry` takes its options."""

import json
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from lakebed.errors import FileMissing, LakebedError
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.lineage.artifacts import (
    MANIFEST,
    RUN_RESULTS,
    Invocation,
    manifest,
    run_results,
)
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.services import RunServices
from lakebed.ports import Files, RunRecord


def write_artifacts(
    services: RunServices,
    specs: Mapping[TableName, PipelineSpec],
    records: tuple[RunRecord, ...],
    options: RunOptions,
    *,
    elapsed: float,
) -> None:
    """Write `run_results.json` and `manifest.json`.

    The build is done: failing to write them does not fail it.
    """
    invocation = Invocation(
        options.invocation, services.now(), version("lakebed"), elapsed, options.args
    )
    with suppress(LakebedError):
        for path, content in (
            (RUN_RESULTS, run_results(records, invocation)),
            (MANIFEST, manifest(specs, invocation)),
        ):
            text = json.dumps(content, indent=1, default=str, ensure_ascii=False)
            services.placement.files.write(path, text.encode())


def read_args(files: Files, invocation: str) -> dict[str, Any]:
    """The options of a build, if it is the one that `run_results.json` describes."""
    try:
        results = json.loads(files.read(RUN_RESULTS))
    except (FileMissing, ValueError):
        return {}
    return dict(results["args"]) if results["metadata"]["invocation_id"] == invocation else {}
