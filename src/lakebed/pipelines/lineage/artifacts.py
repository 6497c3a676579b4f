"""The contents of `run_results.json` and `manifest.json`, in dbt's format, for other tools.

Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from lakebed.names import TableName, ZoneName, id_text
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.ports import RunRecord, Verdict
from lakebed.quality import Gate

FOLDER = ".data/artifacts"
RUN_RESULTS, MANIFEST = f"{FOLDER}/run_results.json", f"{FOLDER}/manifest.json"


@dataclass(frozen=True)
class Invocation:
    """One build: its id, when it ran, and with which options."""

    id: str
    generated_at: datetime
    version: str
    elapsed: float = 0.0
    args: Mapping[str, Any] = field(default_factory=dict)

    def metadata(self, name: str) -> dict[str, Any]:
        return {
            "lakebed_schema_version": f"lakebed/{name}/v1",
            "generated_at": self.generated_at.isoformat(),
            "invocation_id": self.id,
            "lakebed_version": self.version,
        }


def model_id(table: TableName) -> str:
    """The id of a pipeline in both files."""
    return f"model.{table}"


def gate_id(table: TableName, gate: str) -> str:
    """The id of a gate in both files."""
    return f"test.{table}.{gate.replace('/', '.')}"


def source_id(source: TableName | ZoneName) -> str:
    """The id of what no pipeline makes: a zone, or a table from elsewhere."""
    return (
        f"source.{source.namespace}.landing.{source.name}"
        if isinstance(source, ZoneName)
        else f"source.{source}"
    )


# -- run_results.json


def run_results(records: Iterable[RunRecord], invocation: Invocation) -> dict[str, Any]:
    """The result of a build: an entry for each pipeline, and for each gate that ran."""
    return {
        "metadata": invocation.metadata("run-results"),
        "results": [
            entry
            for record in records
            for entry in (
                _run_result(record),
                *(_gate_result(record, one) for one in record.verdicts),
            )
        ],
        "elapsed_time": round(invocation.elapsed, 3),
        "args": dict(invocation.args),
    }


def elapsed(record: RunRecord) -> float:
    """Seconds from the start of a run to its end."""
    return (
        (record.ended_at - record.started_at).total_seconds() if record.ended_at else record.seconds
    )


def _run_result(record: RunRecord) -> dict[str, Any]:
    ended = record.ended_at.isoformat() if record.ended_at else None
    return {
        "unique_id": model_id(record.table),
        "status": {"failed": "error"}.get(record.state, record.state),
        "execution_time": round(elapsed(record), 3),
        "timing": [
            {"name": "execute", "started_at": record.started_at.isoformat(), "completed_at": ended}
        ],
        "message": record.error.get("what", "") or record.message or "OK",
        "failures": None,
        "adapter_response": {
            "run_id": record.run_id,
            "attempt": record.attempt,
            "strategy": record.strategy,
            "release": record.release,
            "version": record.version,
            "rows_affected": record.rows.get("result", 0),
            "rows": dict(record.rows),
            "snapshot": id_text(record.snapshot),
            "inputs": {str(pin.table): id_text(pin.snapshot) for pin in record.inputs},
            "files": dict(record.files),
            "phases": [asdict(phase) for phase in record.phases],
        },
    }


def _gate_result(record: RunRecord, verdict: Verdict) -> dict[str, Any]:
    return {
        "unique_id": gate_id(record.table, verdict.gate),
        "status": verdict_status(verdict),
        "execution_time": verdict.seconds,
        "timing": [],
        "message": verdict.error
        or (f"{verdict.bad_rows} bad rows" if not verdict.passed else None),
        "failures": verdict.bad_rows,
        "adapter_response": {"run_id": record.run_id},
    }


def verdict_status(verdict: Verdict) -> str:
    """A verdict in dbt's terms: pass, warn, fail, or error if the gate could not run."""
    if verdict.error:
        return "error"
    if verdict.passed:
        return "pass"
    return "warn" if verdict.severity == "warn" else "fail"


# -- manifest.json


def manifest(specs: Mapping[TableName, PipelineSpec], invocation: Invocation) -> dict[str, Any]:
    """All pipelines of the lake with their gates and inputs, and which node reads which."""
    nodes: dict[str, dict[str, Any]] = {}
    for spec in specs.values():
        nodes[model_id(spec.table)] = _model(spec, specs)
        nodes |= {gate_id(spec.table, gate.name): _test(spec, gate, specs) for gate in spec.gates}
    sources = _sources(specs)
    parents = {name: node["depends_on"]["nodes"] for name, node in nodes.items()} | dict.fromkeys(
        sources, ()
    )
    return {
        "metadata": invocation.metadata("manifest"),
        "nodes": nodes,
        "sources": sources,
        "parent_map": {name: list(above) for name, above in parents.items()},
        "child_map": {
            name: [other for other, above in parents.items() if name in above] for name in parents
        },
    }


def _node_id(table: TableName, specs: Mapping[TableName, PipelineSpec]) -> str:
    return model_id(table) if table in specs else source_id(table)


def _model(spec: PipelineSpec, specs: Mapping[TableName, PipelineSpec]) -> dict[str, Any]:
    tables = dict.fromkeys(ref.table for ref in spec.refs if ref.table != spec.table)
    reads = [*(_node_id(table, specs) for table in tables), *map(source_id, spec.zone_names)]
    columns = {
        name: {"name": name, "data_type": column.type, "description": column.description}
        for name, column in spec.config.columns.items()
    }
    return _common(spec, "model", model_id(spec.table), spec.table.name, spec.file) | {
        "description": spec.config.description,
        "language": spec.kind,
        "raw_code": spec.source,
        "checksum": {"name": "sha256", "checksum": spec.digest},
        "relation_name": spec.table.spark,
        "tags": list(spec.config.tags),
        "config": spec.config.model_dump(mode="json"),
        "columns": columns,
        "depends_on": {"nodes": reads},
    }


def _test(
    spec: PipelineSpec, gate: Gate, specs: Mapping[TableName, PipelineSpec]
) -> dict[str, Any]:
    others = [
        ref.table for ref in spec.gate_refs if ref.where == gate.where and ref.text in gate.source
    ]
    reads = dict.fromkeys((model_id(spec.table), *(_node_id(table, specs) for table in others)))
    return _common(spec, "test", gate_id(spec.table, gate.name), gate.name, gate.where) | {
        "description": gate.description,
        "language": "sql",
        "raw_code": gate.source,
        "attached_node": model_id(spec.table),
        "tags": list(gate.tags),
        "config": {
            "severity": gate.severity.upper(),
            "tags": list(gate.tags),
            "remediation": gate.remediation,
        },
        "columns": {},
        "depends_on": {"nodes": list(reads)},
    }


def _common(spec: PipelineSpec, kind: str, unique_id: str, name: str, file: str) -> dict[str, Any]:
    return {
        "unique_id": unique_id,
        "resource_type": kind,
        "name": name,
        "package_name": spec.table.namespace,
        "schema": spec.table.layer,
        "fqn": [*spec.table.parts, *([name] if kind == "test" else [])],
        "original_file_path": file,
    }


def _sources(specs: Mapping[TableName, PipelineSpec]) -> dict[str, dict[str, Any]]:
    zones = sorted({zone for spec in specs.values() for zone in spec.zone_names})
    tables = sorted(
        {table for spec in specs.values() for table in spec.inputs if table not in specs}
    )
    landing = {source_id(zone): _source(zone, "landing", zone.folder) for zone in zones}
    return landing | {
        source_id(table): _source(table, table.layer, table.spark) for table in tables
    }


def _source(source: TableName | ZoneName, group: str, place: str) -> dict[str, Any]:
    return {
        "unique_id": source_id(source),
        "resource_type": "source",
        "name": source.name,
        "source_name": group,
        "package_name": source.namespace,
        "relation_name": place,
    }
