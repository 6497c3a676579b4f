"""The fixtures that plateau's suites ask for; every dataset under test is written by Lakebed.

Tests that are left out or fail are listed in `exceptions.py`, each with its reason.
"""

from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any

import pandas as pd
import pytest

pytest.register_assert_rewrite("plateau.io.testing")

import plateau.io.testing.index  # noqa: E402
import plateau.io.testing.read  # noqa: E402
import plateau.io.testing.update  # noqa: E402
import plateau.io.testing.utils  # noqa: E402
from minimalkv import get_store_from_url  # noqa: E402
from plateau.core.factory import DatasetFactory  # noqa: E402
from plateau.core.testing import (  # noqa: E402
    TIME_TO_FREEZE,
    cm_frozen_time,
    get_dataframe_alltypes,
    get_dataframe_not_nested,
)

from tests.kartothek.plateau import binding  # noqa: E402
from tests.kartothek.plateau.exceptions import FAILING, LEFT_OUT  # noqa: E402


def _stored_iter(df_generator: Any, **arguments: Any) -> Any:
    return binding.store_dataframes(list(df_generator), **arguments)


# The suites store what they read, update and index: Lakebed does it for them.
for _module in (
    plateau.io.testing.read,
    plateau.io.testing.update,
    plateau.io.testing.index,
    plateau.io.testing.utils,
):
    _module.store_dataframes_as_dataset = binding.store_dataframes
plateau.io.testing.read.store_dataframes_as_dataset__iter = _stored_iter


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if _reason(LEFT_OUT, item)]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)
    for item in items:
        if reason := _reason(FAILING, item):
            item.add_marker(pytest.mark.xfail(reason=reason))


def _reason(listed: dict[str, str], item: pytest.Item) -> str | None:
    name = f"{item.path.stem}::{item.name}"
    return next((reason for part, reason in listed.items() if name.partition("[")[0] == part), None)


@pytest.fixture(scope="session")
def store_session_factory(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Any]:
    return partial(get_store_from_url, f"hfs://{tmp_path_factory.mktemp('session')}")


@pytest.fixture
def store_factory(tmp_path: Any) -> Callable[[], Any]:
    return partial(get_store_from_url, f"hfs://{tmp_path / 'store'}")


@pytest.fixture
def store_factory2(tmp_path: Any) -> Callable[[], Any]:
    return partial(get_store_from_url, f"hfs://{tmp_path / 'store2'}")


@pytest.fixture
def store(store_factory: Callable[[], Any]) -> Any:
    return store_factory()


@pytest.fixture(scope="session")
def store_session(store_session_factory: Callable[[], Any]) -> Any:
    return store_session_factory()


@pytest.fixture(scope="session")
def metadata_version() -> int:
    return 4


@pytest.fixture
def frozen_time_em() -> Iterator[None]:
    with cm_frozen_time(TIME_TO_FREEZE):
        yield


@pytest.fixture
def mock_default_metadata_version() -> int:
    return 1


@pytest.fixture
def mock_uuid(mocker: Any) -> Any:
    return mocker.patch("plateau.core.uuid._uuid_hook_str", return_value="auto_dataset_uuid")


@pytest.fixture
def df_all_types() -> Any:
    return get_dataframe_alltypes()


@pytest.fixture
def df_not_nested() -> Any:
    return get_dataframe_not_nested()


def _frames() -> list[Any]:
    days = [date(2010, 1, 1), date(2009, 12, 31)]
    return [
        pd.DataFrame({"P": [number], "L": [number], "TARGET": [number], "DATE": [day]})
        for number, day in enumerate(days, 1)
    ]


@pytest.fixture(scope="session")
def dataset(store_session_factory: Callable[[], Any]) -> Any:
    return binding.store_dataframes(
        _frames(), store_session_factory, "dataset_uuid", {"dataset": "metadata"}
    )


@pytest.fixture
def dataset_function(store_factory: Callable[[], Any]) -> Any:
    return binding.store_dataframes(
        _frames(), store_factory, "dataset_uuid", {"dataset": "metadata"}
    )


@pytest.fixture(scope="session")
def dataset_partition_keys(store_session_factory: Callable[[], Any]) -> Any:
    return binding.store_dataframes(
        _frames(), store_session_factory, "partition_keys_dataset", partition_on=["P"]
    )


@pytest.fixture(scope="session")
def dataset_factory(dataset: Any, store_session_factory: Callable[[], Any]) -> Any:
    return DatasetFactory(dataset.uuid, store_session_factory)


@pytest.fixture
def backend_identifier() -> str:
    return "eager"


@pytest.fixture
def bound_store_dataframes() -> Callable[..., Any]:
    return binding.store_dataframes


@pytest.fixture
def bound_update_dataset() -> Callable[..., Any]:
    return binding.update_dataset


@pytest.fixture
def bound_build_dataset_indices() -> Callable[..., Any]:
    return binding.build_indices


@pytest.fixture
def bound_delete_dataset() -> Callable[..., Any]:
    return binding.delete_dataset


@pytest.fixture
def garbage_collect_callable() -> Callable[..., Any]:
    return binding.garbage_collect


@pytest.fixture(params=["dataframe", "table"])
def output_type(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bound_load_dataframes(output_type: str) -> Callable[..., Any]:
    return binding.load_dataframes if output_type == "dataframe" else binding.load_table
