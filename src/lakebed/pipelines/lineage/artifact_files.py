"""The files of a build that other tools read, and from which `lakebed retry` takes its options."""

import json
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version

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
from lakebed.requests import RunRequest


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
        options.invocation, services.ports.now(), version("lakebed"), elapsed, dict(options.request)
    )
    with suppress(LakebedError):
        for path, content in (
            (RUN_RESULTS, run_results(records, invocation)),
            (MANIFEST, manifest(specs, invocation)),
        ):
            text = json.dumps(content, indent=1, default=str, ensure_ascii=False)
            services.ports.files.write(path, text.encode())


def read_request(files: Files, invocation: str) -> RunRequest:
    """The request of a build, if it is the one that `run_results.json` describes; otherwise one
    without options.
    """
    try:
        results = json.loads(files.read(RUN_RESULTS))
    except (FileMissing, ValueError):
        return RunRequest()
    described = results["metadata"]["invocation_id"] == invocation
    return RunRequest.stored(results["args"]) if described else RunRequest()
