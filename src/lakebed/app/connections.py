"""What a lake is connected to: stores, engines and services, each opened at its first use."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lakebed.app.declarations import LakeDeclarations
from lakebed.app.spark.ahead import jvm_ahead
from lakebed.app.spark.sessions import SparkSessions
from lakebed.app.stores import Stores, open_stores
from lakebed.names import TableName
from lakebed.ports import LakePorts
from lakebed.settings import IN_BUCKET, Root, Settings, cache_folder, logs_folder
from lakebed.tables import HeldLease, TableServices

if TYPE_CHECKING:
    from lakebed.care import CareServices
    from lakebed.derived.building.services import LayoutServices
    from lakebed.derived.layouts import Layouts
    from lakebed.engines.types import IcebergCatalog, SparkSession
    from lakebed.pipelines import RunServices
    from lakebed.ports import CareEntry, ConsumedFile, MovedFile, WarmSpark
    from lakebed.query.queries import Queries
    from lakebed.query.results.log import QueryLog

Report = Callable[[str], None]
Starting = Callable[[], AbstractContextManager[None]]  # encloses the start of Spark
_NOUNS = ("tables", "pipelines", "layouts", "zones", "runs", "followers")
_BUILT_ON_STORES = (*_NOUNS, "ports", "_table_services", "_run_services")


def quiet(_: str) -> None:
    """Says nothing."""


def process_name() -> str:
    """The holder of a lease, in words that lead to this process."""
    return f"process {os.getpid()} on {socket.gethostname()}"


class Connections:
    """The stores, engines and services of one lake.

    Nothing connects and no JVM starts before it is needed.
    """

    def __init__(
        self,
        root: Root,
        settings: Settings,
        *,
        environment: Mapping[str, str],
        spark: "SparkSession | None" = None,
        report: Report = quiet,
        starting: Starting = nullcontext,
        warm: "WarmSpark | None" = None,
    ) -> None:
        self.root, self.settings = root, settings
        self.environment, self._report, self._starting = environment, report, starting
        self._given_session, self._warm = spark, warm

    @cached_property
    def stores(self) -> Stores:
        """Files, catalog and state."""
        return self._open_stores()

    def _open_stores(self, *, strict: bool = True) -> Stores:
        """Without `strict`, whatever database it is: for those who make it the lake's own."""
        stores = open_stores(self.settings, self.root, cache=cache_folder(self.environment))
        try:
            stores.ownership.open(strict=strict)
        except BaseException:
            stores.database.close()  # nobody else knows of it
            raise
        return stores

    def _accept_database(self) -> None:
        """Open the stores even if the database is not the lake's yet."""
        if "stores" not in self.__dict__:
            self.__dict__["stores"] = self._open_stores(strict=False)

    # -- services

    @cached_property
    def ports(self) -> LakePorts:
        """What all rooms share."""
        stores = self.stores
        return LakePorts(
            root=self.root,
            settings=self.settings,
            files=stores.files,
            catalog=stores.catalog,
            leases=stores.leases,
            records=stores.records,
            events=stores.events,
            releases=stores.releases,
            care_log=stores.care,
            late=stores,
            sessions=SparkSessions(self),
            holder=process_name(),
            require_owner=stores.ownership.require,
        )

    @cached_property
    def _table_services(self) -> TableServices:
        return TableServices(
            ports=self.ports, requeue=self._requeue, declarations=self._declarations
        )

    @property
    def _declarations(self) -> LakeDeclarations:
        return LakeDeclarations(lambda: self._run_services)

    def _layout_services(self) -> "LayoutServices":
        from lakebed.derived.building.services import LayoutServices

        return LayoutServices(self._table_services, self._declarations)

    def _requeue(
        self, files: "Sequence[ConsumedFile]", on_move: "Callable[[MovedFile], object]"
    ) -> None:
        from lakebed.landing import requeue_files

        requeue_files(files, self.stores.files, self.stores.records, on_move=on_move)

    @cached_property
    def _run_services(self) -> "RunServices":
        from lakebed.app.run_services import LakeRunEngines
        from lakebed.pipelines import RunServices

        own = self.owns_spark and self.settings.spark.has_own_functions_only
        return RunServices(
            ports=self.ports,
            engines=LakeRunEngines(self.ports, self.environment, own_spark=own),
            layouts=self._layouts(),
            care=self._care_after_commits,
        )

    def _care_after_commits(self, table: TableName, held: HeldLease) -> "Sequence[CareEntry]":
        from lakebed.care import care_after_commits

        return care_after_commits(self._care_services(), table, held)

    def _layouts(self) -> "Layouts":
        from lakebed.derived.layouts import Layouts

        return Layouts(self._layout_services())

    def _care_services(self) -> "CareServices":
        """What one care works with; it remembers what it has read."""
        from lakebed.app.care import care_services

        return care_services(self._run_services, self.stores.ownership, self.environment)

    @cached_property
    def queries(self) -> "Queries":
        """Plans and runs SQL over the lake's tables."""
        from lakebed.app.queries import LakeEngines, open_queries

        engines = LakeEngines(self.ports, self.environment, spark=lambda: self.spark)
        return open_queries(self.ports, self.query_log, engines)

    @cached_property
    def query_log(self) -> "QueryLog":
        """The queries so far; plain files, so it can be read while catalog and state are down."""
        from lakebed.query.results.log import QueryLog

        return QueryLog(logs_folder(self.settings, self.root, self.environment))

    # -- engines

    @cached_property
    def spark(self) -> "SparkSession":
        """The session that computes and writes; started at first use, or the one that was given."""
        from lakebed.engines.spark import adopt, open_session

        _ = self.stores  # creates the catalog's tables before Spark looks for them
        if self._given_session is not None:
            return adopt(self._given_session, self.settings, self.root)
        logs = logs_folder(self.settings, self.root, self.environment)
        with self._starting():
            return open_session(
                self.settings,
                self.root,
                environment=self.environment,
                logs=logs,
                report=self._report,
                warm=self._warm,
            )

    @property
    def has_spark(self) -> bool:
        """Whether Spark was started, borrowed or adopted already."""
        return "spark" in self.__dict__

    @property
    def owns_spark(self) -> bool:
        """Whether Spark is not that of a session which was given."""
        return self._given_session is None

    def spark_ahead(self) -> AbstractContextManager[None]:
        """Let Spark's JVM boot while work is loaded and planned that will surely need it; at the
        end of the block it is ended if it was not needed after all.
        """
        if not self.owns_spark or self._warm is not None or self.has_spark:
            return nullcontext()
        return jvm_ahead(self.settings, self.root, self.environment)

    @cached_property
    def iceberg(self) -> "IcebergCatalog":
        """The same tables through PyIceberg."""
        from lakebed.engines.iceberg import open_pyiceberg

        return open_pyiceberg(self.settings, self.root)

    def close(self) -> None:
        """Stop what was started here."""
        if self.has_spark:
            from lakebed.app.run_services import keep_logs
            from lakebed.engines.spark import close_session

            session = self.__dict__.pop("spark")
            if self.owns_spark:  # a given session is the caller's, who goes on using it
                close_session(session)
            if self.settings.places.logs == IN_BUCKET:
                keep_logs(
                    self.stores.files, logs_folder(self.settings, self.root, self.environment)
                )
        if "queries" in self.__dict__:
            self.__dict__.pop("queries").close()
        if "iceberg" in self.__dict__:
            self.__dict__.pop("iceberg").close()
        if "stores" in self.__dict__:
            self.__dict__.pop("stores").database.close()
        for name in _BUILT_ON_STORES:
            self.__dict__.pop(name, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
