"""`lake.layouts`, with advice from the query log."""

from collections.abc import Callable

from lakebed.derived.building.services import LayoutServices
from lakebed.derived.checks import require_source
from lakebed.derived.layouts import Layouts
from lakebed.names import TableName
from lakebed.query.advice.advice import AdviceReport
from lakebed.query.advice.advise import AdviceServices, advise
from lakebed.query.advice.from_log import logged_queries
from lakebed.query.queries import Queries


class LakeLayouts(Layouts):
    """The layouts of a lake's tables, and advice on which there should be."""

    def __init__(self, services: LayoutServices, queries: Callable[[], Queries]) -> None:
        super().__init__(services)
        self._queries = queries

    def advise(self, table: str | TableName | None = None) -> AdviceReport:
        """Which layouts would have paid for the queries of the log, and which do not pay: of one
        table, or of all that the log names.

        Reads the log, manifests and a sample of rows. Changes nothing, starts no JVM.
        """
        found = None if table is None else self.services.tables.find(table)
        if found is not None:
            require_source(found)
        return advise(self._advice_services(), found)

    def _advice_services(self) -> AdviceServices:
        queries = self._queries()
        engines = queries.engines
        return AdviceServices(
            context=queries.context,
            queries=logged_queries(queries.log.entries(), engines.duckdb.parse),
            reader=engines.frames,
            declared=self._overview.declared(),
            folder=str(queries.log.folder),
        )
