"""The steps that bring a result into its table: staged, checked, and written to the run's branch in one commit."""

import re
from dataclasses import replace

from lakebed.errors import BadBatch, near, suggestion
from lakebed.names import TableName, spark_identifier
from lakebed.pipelines.calculate import at_source
from lakebed.pipelines.plan import is_staged
from lakebed.pipelines.work import Work
from lakebed.ports import Field
from lakebed.tables import (
    Policy,
    alterations,
    create_branch,
    fresh_rows,
    kept,
    key_check,
    offences,
    offending_keys,
    plan_schema,
    refuse_batch,
    refuse_columns,
    refuse_unfit_columns,
    row_counts,
    tie_check,
    write_statement,
)
from lakebed.tables import text as quoted

_COLUMN = re.compile(r"^(?:\w+\((?:\d+, )?)?([^()]+?)\)?(?: (?:asc|desc))?$")


def refuse_unfit_result(work: Work) -> None:
    """Whatever can be known of the result without computing it: columns that are missing, or not as they were declared."""
    strategy = work.spec.strategy
    refuse_columns(strategy, work.fields, table=str(work.table))
    refuse_unfit_columns(work.table, work.fields)
    names = {field.name.casefold(): field for field in work.fields}
    for column, declared in work.spec.config.columns.items():
        found = names.get(column.casefold())
        if found is None and column not in dict(strategy.own_columns):
            close = suggestion(near(column, [field.name for field in work.fields]))
            raise _unfit(work, f"columns names {column!r}, and the result has none of that name.", close)
        if found and declared.type and kept(found).type != _plain(declared.type):
            what = f"the column {column!r} is {found.type} in the result and {declared.type} in columns."
            raise _unfit(work, what, f"Cast it: CAST({column} AS {declared.type}).")


def _unfit(work: Work, what: str, next: str) -> BadBatch:
    return BadBatch(what, where=work.spec.file, safe="Nothing was written.", next=next)


def _plain(type_: str) -> str:
    spelt = {"integer": "int", "long": "bigint", "short": "int", "smallint": "int", "tinyint": "int", "real": "float"}
    lowered = re.sub(r"\s+", "", type_.casefold())
    return spelt.get(lowered, "string" if re.fullmatch(r"(?:var)?char\(\d+\)", lowered) else lowered)


def stage(work: Work) -> None:
    """Compute the result once, into a hidden table."""
    ground = work.tools.ground
    ground.catalog.create_namespace(work.table.namespace, work.table.layer)
    place = ground.passing_place(work.stage)
    at_source(
        work.compiled,
        lambda: work.compute.create(work.frame, work.stage.spark, location=place, properties=ground.passing_properties()),
    )
    head = work.metadata(work.stage).head()
    work.result_rows = (head.count("total-records") or 0) if head else 0
    apply_empty_policy(work)


def apply_empty_policy(work: Work) -> None:
    """What an empty result means, as soon as it is known to be empty."""
    if work.result_rows != 0:
        return
    policy = work.spec.config.empty_policy
    if policy == "fail":
        raise BadBatch(
            "the result has no row.",
            where=work.spec.file,
            safe="The table is as it was.",
            next="If that is right, set on_empty to write or skip.",
        )
    work.skip_write = not work.first and (policy == "skip" or _means_nothing(work))


def _means_nothing(work: Work) -> bool:
    """Whether an empty batch leaves a table as it is; absent keys mean something to some strategies."""
    strategy = work.spec.strategy
    return bool(is_staged(strategy)) and not work.setting.pins.full_refresh and not strategy.counts_absence


def check_keys(work: Work) -> None:
    """Refuse NULL keys, and repeated ones that have no order; names some of them."""
    strategy, staged = work.spec.strategy, work.stage.spark
    asked = key_check(strategy, staged=staged)
    if asked is None or not work.result_rows:
        return
    counts = _counted(work, asked)
    if ties := tie_check(strategy, counts, staged=staged, columns=work.fields):
        counts |= _counted(work, ties)
    work.keys = counts.get("keys")
    if offences(strategy, counts):
        examples = work.compute.rows(offending_keys(strategy, counts, staged=staged, columns=work.fields), limit=20)
        refuse_batch(strategy, counts, examples, table=str(work.table))


def _counted(work: Work, query: str) -> dict[str, int]:
    (found,) = work.compute.rows(query, limit=1)
    return {name: int(value or 0) for name, value in found.items()}


def prepare_schema(work: Work, policy: Policy) -> None:
    """Decide how the table's columns follow, and add those that are new; the former schema is written down first."""
    metadata = work.setting.target.metadata
    if metadata is None:
        return
    present = _present(work)
    own = [name for name, _ in work.spec.strategy.own_columns]
    fixed = {_COLUMN.sub(r"\1", text) for text in (*metadata.partition_by, *metadata.sort_by)}
    work.change = plan_schema(work.table, present, work.fields, policy=policy, own=own, fixed=fixed)
    lacking = [
        Field(name, type_) for name, type_ in work.spec.strategy.own_columns if name not in {field.name for field in present}
    ]
    work.change = replace(work.change, add=(*work.change.add, *lacking))
    if work.change.before_gates:
        work.record = replace(work.record, schema=metadata.schema)
        work.tools.records.write(work.record)
        for statement in alterations(work.table, work.change):
            work.compute.execute(statement)


def _present(work: Work) -> tuple[Field, ...]:
    return work.compute.fields(work.compute.query(f"SELECT * FROM {work.written.spark}"))


def create_hidden(work: Work, hidden: TableName) -> None:
    """The table of a first run, at its final place and under a name that nobody knows."""
    config, strategy = work.spec.config, work.spec.strategy
    own = (Field(name, type_) for name, type_ in strategy.own_columns)
    columns = ", ".join(_column(kept(field), work) for field in (*work.fields, *own))
    partition_by = [field.spark for field in config.partition_by]
    if strategy.strategy == "snapshot" and not partition_by:
        partition_by = [spark_identifier(config.partition_column or "")]
    ground = work.tools.ground
    work.compute.execute(
        ground.creation_of(work.table, columns, hidden=hidden, partition_by=partition_by, is_sorted=bool(config.sort_by))
    )
    if config.sort_by:
        work.compute.execute(f"ALTER TABLE {hidden.spark} WRITE ORDERED BY {', '.join(config.sort_by)}")


def _column(field: Field, work: Work) -> str:
    declared = work.spec.config.columns.get(field.name)
    comment = f" COMMENT {quoted(declared.description)}" if declared and declared.description else ""
    return f"{spark_identifier(field.name)} {field.type}{comment}"


def open_branch(work: Work) -> None:
    """The run's own branch; one that would stay empty is not made."""
    if not work.skip_write:
        work.compute.execute(create_branch(work.table, work.branch))


def write(work: Work) -> None:
    """Bring the result in by the strategy: one commit, on the branch. What came of it is counted."""
    if work.skip_write:
        work.unchanged = True
        work.record = replace(work.record, rows={"result": work.result_rows or 0})
        return
    at_source(work.compiled, lambda: _write(work))
    head = work.head()
    summary = dict(head.summary) if head and head.id != work.setting.target.base(work.setting.pins.ref) else {}
    if work.result_rows is None:
        work.result_rows = int(summary.get("added-records", 0))
        apply_empty_policy(work)
    touched = any(
        int(summary.get(key, 0)) for key in ("added-data-files", "deleted-data-files", "added-records", "deleted-records")
    )
    work.unchanged = not work.first and (work.skip_write or not touched)
    counts = {"inserted": int(summary.get("added-records", 0))} if work.first else {}
    counts |= row_counts(work.spec.strategy, summary, staged_rows=work.result_rows, distinct_keys=work.keys)
    total = {"total": int(summary["total-records"])} if "total-records" in summary else {}
    work.record = replace(work.record, rows={"result": work.result_rows, **counts, **total})


def _write(work: Work) -> None:
    strategy, compute = work.spec.strategy, work.compute
    anew = work.first or work.setting.pins.full_refresh
    staged, repeats = work.stage.spark, work.keys != work.result_rows
    statement = write_statement(strategy, target=work.place, staged=staged, columns=work.fields, now=work.now, repeats=repeats)
    if statement and not anew:
        work.log.info("write:\n%s", statement)
        compute.execute(statement)
        return
    rows = work.frame
    if statement:
        rows = compute.query(fresh_rows(strategy, staged=staged, columns=work.fields, now=work.now, repeats=repeats))
    shaped = compute.shape(rows, _present(work))
    replaces = not work.first and (anew or strategy.strategy == "full_refresh")
    (compute.overwrite if replaces else compute.append)(shaped, work.place)
