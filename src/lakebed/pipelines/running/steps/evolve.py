"""The steps by which a table follows its pipeline: columns as in the result, partitioning and order
as in the settings.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from lakebed.errors import (
    BadBatch,
    ColumnsChanged,
    RunFailed,
    TableDropped,
    near,
    suggestion,
)
from lakebed.pipelines.definition.config import build_strategy
from lakebed.pipelines.planning.pins import SourceBatch
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.adopting.names import restore_names
from lakebed.pipelines.running.steps.strategy_checks import (
    check_overwrite,
    check_range,
    refuse_unfit_strategy,
)
from lakebed.ports import Column, Field, TableMetadata
from lakebed.tables import (
    Arrangement,
    ArrangementChange,
    PartitionField,
    SchemaPolicy,
    alter_statements,
    apply_renames,
    arrangement_of,
    arrangement_statements,
    as_stored,
    inverse_renames,
    plan_schema,
    require_columns,
    require_storable_columns,
    require_strategy_columns,
)
from lakebed.types import read_table_type


def require_fitting_result(run: ActiveRun) -> None:
    """Check what can be known about the result without computing it: missing columns, and columns
    that differ from their declaration.
    """
    require_strategy_columns(run.spec.strategy, run.progress.fields, table=str(run.table))
    require_storable_columns(run.table, run.progress.fields)
    refuse_unfit_strategy(run)
    if (condition := run.spec.strategy.user_condition) is not None:
        check_overwrite(run, condition)
    if (column := run.spec.strategy.range_column) is not None:
        check_range(run, column)
    if run.spec.config.contract:
        _refuse_breach(run)
    _refuse_undeclared(run)
    _refuse_layout(run)


def _refuse_breach(run: ActiveRun) -> None:
    """Every difference between the result and the contract, in one message."""
    own = {name.casefold() for name, _ in run.spec.strategy.own_columns}
    agreed = {
        name.casefold(): Field(name, column.type or "")
        for name, column in run.spec.config.columns.items()
    }
    given = {field.name.casefold(): field for field in run.progress.fields}
    missing = [
        f"{field.name} {field.type}"
        for name, field in agreed.items()
        if name not in given and name not in own
    ]
    extra = [
        f"{field.name} {_plain(field.type)}" for name, field in given.items() if name not in agreed
    ]
    others = [
        f"{field.name} is {_plain(given[name].type)}, not {field.type}"
        for name, field in agreed.items()
        if name in given and as_stored(given[name]).type != as_stored(field).type
    ]
    said = (("missing", missing), ("not agreed", extra), ("of another type", others))
    if any(differences for _, differences in said):
        told = "; ".join(
            f"{label}: {', '.join(differences)}" for label, differences in said if differences
        )
        raise _unfit(
            run,
            f"the result breaks the contract ({told}).",
            "Change the query, or columns in config.yaml.",
        )


def _plain(type_: str) -> str:
    """A type as a user would write it."""
    return re.sub(r"`(\w+)`", r"\1", read_table_type(type_).spark)


def _refuse_undeclared(run: ActiveRun) -> None:
    names = {field.name.casefold(): field for field in run.progress.fields}
    for column, declared in run.spec.config.columns.items():
        found = names.get(column.casefold())
        if found is None and column not in dict(run.spec.strategy.own_columns):
            close = suggestion(near(column, [field.name for field in run.progress.fields]))
            raise _unfit(
                run, f"columns names {column!r}, and the result has none of that name.", close
            )
        if (
            found
            and declared.type
            and as_stored(found).type != as_stored(Field(column, declared.type)).type
        ):
            what = (
                f"the column {column!r} is {_plain(found.type)} in the result and {declared.type}"
                " in columns."
            )
            raise _unfit(run, what, f"Cast it: CAST({column} AS {declared.type}).")


def _refuse_layout(run: ActiveRun) -> None:
    metadata = run.context.target.metadata
    there = (
        apply_renames([column.name for column in metadata.columns], run.context.target.renames)
        if metadata
        else ()
    )
    known = [
        *(field.name for field in run.progress.fields),
        *(name for name, _ in run.spec.strategy.own_columns),
        *there,
    ]
    folded = {name.casefold() for name in known}
    for column in run.spec.config.arrangement.columns:
        if column.casefold() not in folded:
            what = f"partition_by or sort_by names {column!r}, and there is no such column."
            raise _unfit(run, what, suggestion(near(column, known)))


def _unfit(run: ActiveRun, what: str, next: str) -> BadBatch:
    return BadBatch(what, where=run.spec.file, safe="Nothing was written.", next=next)


def prepare_schema(run: ActiveRun, policy: SchemaPolicy) -> None:
    """Decide how the table's columns follow the result, and add new ones; the former schema is
    recorded first.
    """
    progress = run.progress
    target, strategy = run.context.target, run.spec.strategy
    if target.metadata is None:
        return
    present = present_fields(run)
    with _naming_files(run, target.metadata):
        change = plan_schema(
            run.table,
            present,
            progress.fields,
            policy=policy,
            own=[name for name, _ in strategy.own_columns],
            fixed=set(_fixed(run, target.metadata)),
            renames=target.renames,
            replaces=run.context.pins.full_refresh or strategy.rebuilds_all,
        )
    there = {
        name.casefold() for name in apply_renames([field.name for field in present], change.renames)
    }
    lacking = tuple(
        Field(name, type_) for name, type_ in strategy.own_columns if name.casefold() not in there
    )
    final = None if change.final is None else (*change.final, *(field.name for field in lacking))
    progress.schema_change = replace(change, add=(*change.add, *lacking), final=final)
    progress.aliases = progress.schema_change.aliases(
        [field.name for field in (*present, *progress.schema_change.add)]
    )
    divided = (
        progress.schema_change.at_publishing and not run.services.ports.catalog.atomic
    )  # such a publication may be taken back
    if progress.schema_change.before_gates or divided:
        progress.record = replace(
            progress.record, schema=target.metadata.schema, touched=progress.schema_change.touched
        )
        run.services.ports.records.write(progress.record)
    for statement in alter_statements(run.table, progress.schema_change):
        run.compute.execute(statement)
    if target.metadata.adopted_from:
        restore_names(run.table, run.services, lease=run.held.require())
    progress.prepared = _prepared_columns(run, (*present, *progress.schema_change.add))


def _prepared_columns(run: ActiveRun, fields: Iterable[Field]) -> tuple[Column, ...]:
    """The table's columns, which must be those that the schema was planned on."""
    columns = run.metadata(run.table).columns
    _require_names(run, wanted=fields, among=columns)
    return columns


def _require_names(
    run: ActiveRun, *, wanted: Iterable[Field | Column], among: Iterable[Field | Column]
) -> None:
    names = {column.name.casefold() for column in among}
    gone = [column.name for column in wanted if column.name.casefold() not in names]
    if gone:
        raise ColumnsChanged(str(run.table), gone)


@contextmanager
def noticing_changes_by_others(run: ActiveRun) -> Iterator[None]:
    """If others dropped the table or changed its columns, that is why the block failed; if it did
    not, the rows that it wrote lack values.
    """
    try:
        yield
    except RunFailed:
        _require_prepared_table(run)
        raise
    _require_prepared_table(run)


def _require_prepared_table(run: ActiveRun) -> None:
    former = run.context.target.metadata
    if former is None or run.spec.is_view:
        return
    present = run.metadata(run.table)
    if present.uuid != former.uuid:
        raise TableDropped(str(run.table))
    if not run.progress.skip_write:
        require_columns(run.table, run.progress.prepared, present)


@contextmanager
def _naming_files(run: ActiveRun, metadata: TableMetadata) -> Iterator[None]:
    """Add to an error which landing files have columns that the table does not have."""
    try:
        yield
    except BadBatch as error:
        if batch := run.context.pins.source_batch:
            raise _of_source(run, error, batch) from error
        there = {column.name.casefold() for column in metadata.columns}
        checked = [landed.checked for landed in run.progress.landed.values() if landed.checked]
        members = [member for one in checked for member in one.groups]
        new = {
            name: member.files[0].path
            for member in members
            for name in member.types
            if name.casefold() not in there
        }
        told = ", ".join(f"{name} in {path}" for name, path in new.items())
        error.next += (
            f" Files of the zone that have other columns than the table: {told}." if told else ""
        )
        raise


def _of_source(run: ActiveRun, error: BadBatch, batch: SourceBatch) -> BadBatch:
    """The columns of a batch do not fit the table: what helps where there is no query."""
    shown = f" (the first of its files is {batch.first.path})" if batch.files else ""
    return BadBatch(
        f"{error.what[:-1]}{shown}.",
        where=run.spec.file,
        safe="Nothing of this batch was written.",
        next="Give the column the table's type under columns in config.yaml, or another name by"
        " from. New columns need on_schema_change: append. To start over, drop the table (it can"
        f" be restored) and run again: lakebed table drop {run.table}",
    )


def present_fields(run: ActiveRun) -> tuple[Field, ...]:
    """The columns of the table being written, as the engine has them now."""
    return run.compute.fields(run.compute.query(f"SELECT * FROM {run.physical_table.spark}"))


def fields_to_write(run: ActiveRun) -> tuple[Field, ...]:
    """The present columns; `ColumnsChanged` if one is missing for which values arrive."""
    present = present_fields(run)
    _require_names(run, wanted=run.progress.prepared, among=present)
    return present


def _fixed(run: ActiveRun, metadata: TableMetadata) -> Iterator[str]:
    """The columns that partitioning and sort order need, as the table has or will have them."""
    present = arrangement_of(metadata.partition_by, metadata.sort_by)
    wanted = run.spec.config.arrangement.with_renames(inverse_renames(run.context.target.renames))
    partition = present.partition_by if wanted.partition_by is None else wanted.partition_by
    order = present.sort_by if wanted.sort_by is None else wanted.sort_by
    yield from (column.casefold() for column in Arrangement(partition, order).columns)


def evolve_arrangement(run: ActiveRun, change: ArrangementChange) -> None:
    """Changes only metadata and nothing that readers see, so a run that fails afterwards need not
    undo it.
    """
    if run.progress.skip_write:
        return
    properties = run.services.placement.properties(run.table, is_sorted=bool(change.sort))
    for statement in arrangement_statements(run.table, change, properties=properties):
        run.log.info("layout: %s", statement)
        run.compute.execute(statement)


def arrangement_of_new(run: ActiveRun) -> Arrangement:
    """The partitioning and order of a first run's table; unless the settings say otherwise, it is
    partitioned by the column by which the strategy replaces rows, if it does.
    """
    config = run.spec.config
    said, column = config.arrangement, build_strategy(config).partition
    if said.partition_by is None and column:
        return Arrangement((PartitionField(column=column),), said.sort_by)
    return said
