"""What commands import, loaded once for all of them. One module at a time: clients do not wait."""

import gc
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module

_MODULES = (
    *("lakebed.cli.main", "lakebed.cli.output.grid", "lakebed.cli.output.build_progress"),
    *("lakebed.app", "lakebed.app.queries", "lakebed.app.care", "lakebed.app.run_services"),
    "lakebed.pipelines.running.builds.run_selected",
    *("lakebed.pipelines.running.manual_writes", "lakebed.pipelines.preview.selected"),
    *("lakebed.templates.render_simple", "lakebed.templates.functions", "jinja2.sandbox"),
    *("lakebed.engines.spark.session", "lakebed.engines.spark.lending.preload"),
    *("lakebed.engines.worker.borrow", "lakebed.engines.iceberg.metadata.staging"),
    *("lakebed.engines.arrow.frame_reader", "lakebed.engines.arrow.parquet"),
    *("rich.live", "rich.progress", "sqlite3", "pyiceberg.io.pyarrow", "pyarrow.dataset"),
)


def preload() -> Iterator[str]:
    """Load one module a step. Nothing of a lake is opened, and no thread of Python is started;
    those of Arrow's allocator and of NumPy's algebra survive a fork.
    """
    for name in _MODULES:
        with suppress(Exception):  # the command that needs it says what is wrong
            import_module(name)
        yield name
    gc.collect()
    gc.freeze()  # children would copy what the collector touches
