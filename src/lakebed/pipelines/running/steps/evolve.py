"""The steps by which a table follows its pipeline: columns as the result has them, layout as the settings say."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from lakebed.errors import BadBatch, near, suggestion
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.strategy_checks import refuse_unfit_strategy
from lakebed.ports import Field, TableMetadata
from lakebed.tables import (
    Arrangement,
    ArrangementChange,
    PartitionField,
    Policy,
    alterations,
    backwards,
    kept,
    layout_of,
    layout_statements,
    plan_schema,
    read_type,
    refuse_columns,
    refuse_unfit_columns,
    renamed,
)


def refuse_unfit_result(work: ActiveRun) -> None:
    """Whatever can be known of the result without computing it: columns that are missing, or not as they were declared."""
    refuse_columns(work.spec.strategy, work.fields, table=str(work.table))
    refuse_unfit_columns(work.table, work.fields)
    refuse_unfit_strategy(work)
    if work.spec.config.contract:
        _refuse_breach(work)
    _refuse_undeclared(work)
    _refuse_layout(work)


def _refuse_breach(work: ActiveRun) -> None:
    """Every difference between the result and the contract, in one message."""
    own = {name.casefold() for name, _ in work.spec.strategy.own_columns}
    agreed = {name.casefold(): Field(name, column.type or "") for name, column in work.spec.config.columns.items()}
    given = {field.name.casefold(): field for field in work.fields}
    missing = [f"{field.name} {field.type}" for name, field in agreed.items() if name not in given and name not in own]
    extra = [f"{field.name} {_plain(field.type)}" for name, field in given.items() if name not in agreed]
    others = [
        f"{field.name} is {_plain(given[name].type)}, not {field.type}"
        for name, field in agreed.items()
        if name in given and kept(given[name]).type != kept(field).type
    ]
    said = (("missing", missing), ("not agreed", extra), ("of another type", others))
    if any(differences for _, differences in said):
        told = "; ".join(f"{label}: {', '.join(differences)}" for label, differences in said if differences)
        raise _unfit(work, f"the result breaks the contract ({told}).", "Change the query, or columns in config.yaml.")


def _plain(type_: str) -> str:
    """A type as a person would write it."""
    return re.sub(r"`(\w+)`", r"\1", read_type(type_).spark)


def _refuse_undeclared(work: ActiveRun) -> None:
    names = {field.name.casefold(): field for field in work.fields}
    for column, declared in work.spec.config.columns.items():
        found = names.get(column.casefold())
        if found is None and column not in dict(work.spec.strategy.own_columns):
            close = suggestion(near(column, [field.name for field in work.fields]))
            raise _unfit(work, f"columns names {column!r}, and the result has none of that name.", close)
        if found and declared.type and kept(found).type != kept(Field(column, declared.type)).type:
            what = f"the column {column!r} is {_plain(found.type)} in the result and {declared.type} in columns."
            raise _unfit(work, what, f"Cast it: CAST({column} AS {declared.type}).")


def _refuse_layout(work: ActiveRun) -> None:
    metadata = work.setting.target.metadata
    there = renamed([column.name for column in metadata.columns], work.setting.target.renames) if metadata else ()
    known = [*(field.name for field in work.fields), *(name for name, _ in work.spec.strategy.own_columns), *there]
    folded = {name.casefold() for name in known}
    for column in work.spec.config.layout.columns:
        if column.casefold() not in folded:
            what = f"partition_by or sort_by names {column!r}, and there is no such column."
            raise _unfit(work, what, suggestion(near(column, known)))


def _unfit(work: ActiveRun, what: str, next: str) -> BadBatch:
    return BadBatch(what, where=work.spec.file, safe="Nothing was written.", next=next)


def prepare_schema(work: ActiveRun, policy: Policy) -> None:
    """Decide how the table's columns follow, and add those that are new; the former schema is written down first."""
    target, strategy = work.setting.target, work.spec.strategy
    if target.metadata is None:
        return
    present = present_fields(work)
    with _naming_files(work, target.metadata):
        change = plan_schema(
            work.table,
            present,
            work.fields,
            policy=policy,
            own=[name for name, _ in strategy.own_columns],
            fixed=set(_fixed(work, target.metadata)),
            renames=target.renames,
            replaces=work.setting.pins.full_refresh or strategy.strategy == "full_refresh",
        )
    there = {name.casefold() for name in renamed([field.name for field in present], change.renames)}
    lacking = tuple(Field(name, type_) for name, type_ in strategy.own_columns if name.casefold() not in there)
    final = None if change.final is None else (*change.final, *(field.name for field in lacking))
    work.change = replace(change, add=(*change.add, *lacking), final=final)
    work.shown = work.change.seen([field.name for field in (*present, *work.change.add)])
    divided = work.change.at_publishing and not work.tools.ground.catalog.atomic  # such a publication may be taken back
    if work.change.before_gates or divided:
        work.record = replace(work.record, schema=target.metadata.schema, touched=work.change.touched)
        work.tools.records.write(work.record)
    for statement in alterations(work.table, work.change):
        work.compute.execute(statement)


@contextmanager
def _naming_files(work: ActiveRun, metadata: TableMetadata) -> Iterator[None]:
    """A refusal says which landing files bring columns that the table does not have."""
    try:
        yield
    except BadBatch as error:
        there = {column.name.casefold() for column in metadata.columns}
        checked = [landed.checked for landed in work.landed.values() if landed.checked]
        members = [member for one in checked for member in one.groups]
        new = {name: member.files[0].path for member in members for name in member.types if name.casefold() not in there}
        told = ", ".join(f"{name} in {path}" for name, path in new.items())
        error.next += f" Files of the zone that have other columns than the table: {told}." if told else ""
        raise


def present_fields(work: ActiveRun) -> tuple[Field, ...]:
    """The columns of the table that is written, as the engine has them now."""
    return work.compute.fields(work.compute.query(f"SELECT * FROM {work.written.spark}"))


def _fixed(work: ActiveRun, metadata: TableMetadata) -> Iterator[str]:
    """The columns that the layout will need: the table's, or what is said of it anew."""
    present = layout_of(metadata.partition_by, metadata.sort_by)
    wanted = work.spec.config.layout.under(backwards(work.setting.target.renames))
    partition = present.partition_by if wanted.partition_by is None else wanted.partition_by
    order = present.sort_by if wanted.sort_by is None else wanted.sort_by
    yield from (column.casefold() for column in Arrangement(partition, order).columns)


def evolve_layout(work: ActiveRun, change: ArrangementChange) -> None:
    """Only metadata changes, and nothing that readers see: a run that fails afterwards need not set it back."""
    if work.skip_write:
        return
    properties = work.tools.ground.properties(work.table, is_sorted=bool(change.sort))
    for statement in layout_statements(work.table, change, properties=properties):
        work.log.info("layout: %s", statement)
        work.compute.execute(statement)


def layout_of_new(work: ActiveRun) -> Arrangement:
    """The layout of a first run's table; a snapshot's is divided by what it replaces, unless something else is said."""
    said, strategy = work.spec.config.layout, work.spec.strategy
    if said.partition_by is None and strategy.strategy == "snapshot":
        return Arrangement((PartitionField(column=strategy.partition_column),), said.sort_by)
    return said
