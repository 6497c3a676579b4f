"""PostgreSQL behind a pooler that gives each transaction another connection, such as PgBouncer."""

from typing import Any

from sqlalchemy import Connection, Engine, event

from lakebed.engines.limits import transaction_limits


def suit_to_pooler(engine: Engine, *, timeout: float) -> None:
    """Prepare no statements, which the next transaction's connection would not know, and set the
    server's limits in each transaction.
    """

    def prepare_nothing(_: Any, __: Any, ___: Any, parameters: dict[str, Any]) -> None:
        parameters["prepare_threshold"] = None

    def set_limits(connection: Connection) -> None:
        connection.exec_driver_sql(transaction_limits(timeout))

    event.listen(engine, "do_connect", prepare_nothing)
    event.listen(engine, "begin", set_limits)
