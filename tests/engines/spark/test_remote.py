"""Sessions that somebody else runs: a Connect server's, and the user's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakebed.engines.spark import local_jars, open_session
from lakebed.engines.spark.conf import EXTENSIONS
from lakebed.errors import SparkFailed
from lakebed.settings import Root, Settings, SparkSettings
from tests.servers.postgres import Database
from tests.servers.processes import free_ports
from tests.servers.s3 import Bucket
from tests.servers.spark import connect_server
from tests.support.canaries import files, logged, sightings
from tests.support.lakes.spark_lakes import ENVIRONMENT, new_lake, python
from tests.support.scale import in_turn

with_own_session = in_turn(1, of=2)


def test_a_connect_server_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    settings = Settings(spark=SparkSettings(master=f"sc://127.0.0.1:{port}/;token=hush"))
    with pytest.raises(SparkFailed, match=f"127.0.0.1:{port}") as refused:
        open_session(settings, new_lake(tmp_path / "lake"), environment=ENVIRONMENT, logs=tmp_path)
    assert "hush" not in str(refused.value)


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = Root.parse(tmp_path_factory.mktemp("jars"))
    return ",".join(map(str, local_jars(Settings(), root, environment=ENVIRONMENT, report=print)))


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("connect") / "events"


@pytest.fixture(scope="module")
def connect_url(events: Path) -> Iterator[str]:
    with connect_server(events.parent, conf=logged(events).items()) as url:
        yield url


CONNECTED = """
import json, os, sys
from pathlib import Path
from lakebed.engines.files import FolderFiles
from lakebed.engines.spark import SparkCompute, Staging, close_session, open_session, watch
from lakebed.errors import UsageError
from lakebed.settings import Root, Settings, SparkSettings
from tests.contracts.compute import broken_promises
from tests.support.lakes.spark_lakes import jvm_of, make_table, new_lake, run_once

def opened(name):
    settings = Settings(spark=SparkSettings(master=sys.argv[2]), timezone="Asia/Tokyo")
    return open_session(settings, new_lake(Path(sys.argv[1], name)), environment=os.environ, logs=Path(sys.argv[1]))

one, two = opened("one"), opened("two")
make_table(one), make_table(two)
told = []
with watch(one, lambda done, total: told.append((done, total))):
    rows = run_once(one)
    one.range(0, 1000, numPartitions=5).selectExpr("id % 3 AS k").groupBy("k").count().collect()
seen = {"rows": rows, "told": told, "zone": one.conf.get("spark.sql.session.timeZone")}
seen["other"] = two.table("shop.silver.orders").count()
root = Root.parse(Path(sys.argv[1], "two"))
compute = SparkCompute(two, Staging(FolderFiles(root.folder), root, "run"), run_id="run")
two.sql("DROP TABLE lake.shop.silver.orders")
seen["broken_promises"] = broken_promises(compute, Path(sys.argv[1]))
close_session(one)
seen["two_after_one"] = two.range(3).count()
close_session(two)
seen["jvms"] = jvm_of(os.getpid())
seen["mode"] = os.environ.get("SPARK_CONNECT_MODE_ENABLED")
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def connected(connect_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return python(CONNECTED, tmp_path_factory.mktemp("lakes"), connect_url)


@pytest.mark.spark
def test_a_run_works_over_spark_connect(connected: dict[str, Any]) -> None:
    assert connected["rows"] == [1, 2, 3]
    assert connected["zone"] == "Asia/Tokyo"
    assert connected["jvms"] == []


@pytest.mark.spark
def test_connect_sessions_of_two_lakes_are_apart(connected: dict[str, Any]) -> None:
    assert (connected["other"], connected["two_after_one"]) == (0, 3)


@pytest.mark.spark
def test_connect_tells_how_far_it_is_and_nothing_else(connected: dict[str, Any]) -> None:
    assert connected["told"]
    assert all(done <= total for done, total in connected["told"])
    assert (connected["stdout"], connected["stderr"]) == ([], "")


@pytest.mark.spark
def test_a_connect_session_keeps_the_contract_of_compute(connected: dict[str, Any]) -> None:
    assert not connected["broken_promises"], "\n".join(connected["broken_promises"].values())


@pytest.mark.spark
def test_after_connect_the_process_may_open_a_local_session(connected: dict[str, Any]) -> None:
    assert connected["mode"] is None


OWN = """
import json, os, sys
from pathlib import Path
from pyspark.sql import SparkSession
from lakebed.engines.spark import adopt, close_session, open_session
from lakebed.errors import UsageError
from lakebed.settings import Settings
from tests.support.lakes.spark_lakes import make_table, new_lake, run_once

folder, jars, extensions = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
one, two = new_lake(folder / "one"), new_lake(folder / "two")
seen = {}

def refusal(work):
    try:
        work()
    except UsageError as error:
        return str(error)

def own(**conf):
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for key, value in conf.items():
        builder = builder.config(key.replace("_", "."), value)
    return builder.getOrCreate()

session = own(spark_sql_extensions=extensions, spark_jars=jars)
adopt(session, Settings(), one)
make_table(session)
seen["rows"] = run_once(session)
adopt(session, Settings(), one)
seen["another_lake"] = refusal(lambda: adopt(session, Settings(), two))
seen["not_handed_over"] = refusal(lambda: open_session(Settings(), two, environment=os.environ, logs=folder))
seen["default"] = session.sql("SELECT current_catalog()").collect()[0][0]
close_session(session)
seen["alive"] = session.range(4).count()
print(json.dumps(seen))
"""

WITHOUT_JARS = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from lakebed.engines.spark import adopt
from lakebed.errors import UsageError
from lakebed.settings import Settings
from tests.support.lakes.spark_lakes import new_lake
lake, said = new_lake(Path(sys.argv[1], "lake")), []
for conf in ({}, {"spark.sql.extensions": sys.argv[2]}):
    session = SparkSession.builder.master("local[2]").config(map=conf).getOrCreate()
    try:
        adopt(session, Settings(), lake)
    except UsageError as error:
        said.append(str(error))
    session.stop()
print(json.dumps({"said": said}))
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, jars: str) -> dict[str, Any]:
    return python(OWN, tmp_path_factory.mktemp("own"), jars, EXTENSIONS)


@pytest.mark.spark
@with_own_session
def test_the_users_own_session_serves_a_lake_and_is_never_stopped(own: dict[str, Any]) -> None:
    assert own["rows"] == [1, 2, 3]
    assert own["alive"] == 4
    assert own["default"] == "spark_catalog"


@pytest.mark.spark
@with_own_session
def test_a_session_without_iceberg_is_refused_with_the_way_to_start_it(tmp_path: Path) -> None:
    plain, without_jars = python(WITHOUT_JARS, tmp_path, EXTENSIONS)["said"]
    assert "no Iceberg extensions" in plain
    assert "lacks jars" in without_jars
    for said in (plain, without_jars):
        assert "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0" in said


@pytest.mark.spark
@with_own_session
def test_a_session_of_another_lake_is_refused(own: dict[str, Any]) -> None:
    assert "is another one" in own["another_lake"]


@pytest.mark.spark
@with_own_session
def test_a_session_not_handed_over_is_not_used_behind_the_users_back(own: dict[str, Any]) -> None:
    assert "already has a Spark session" in own["not_handed_over"]


UNEQUIPPED = """
import json, os, sys
from pathlib import Path
from lakebed.engines.spark import close_session, open_session
from lakebed.errors import UsageError
from lakebed.settings import Root, Settings, SparkSettings, load_settings

root = Root.parse(sys.argv[1])
settings = load_settings(Path(sys.argv[2]).read_text(), os.environ, root=root)
try:
    session = open_session(settings, root, environment=os.environ, logs=Path(sys.argv[2]).parent)
    said = f"it answered {session.range(3).count()}"
except UsageError as error:
    said = str(error)
print(json.dumps({"said": said}))
"""


@pytest.mark.spark
@pytest.mark.s3
@pytest.mark.postgres
def test_a_connect_server_without_the_secrets_is_told_which_settings_it_lacks_and_never_gets_to_see_one(
    connect_url: str, events: Path, bucket: Bucket, database: Database, tmp_path: Path
) -> None:
    (tmp_path / "lakebed.yaml").write_text(
        f"catalog: {{kind: postgres, url: '{database.url}', user: '{database.user}'}}"
    )
    server = bucket.server
    environment = ENVIRONMENT | {
        "LAKEBED_SPARK_MASTER": connect_url,
        "LAKEBED_CATALOG_PASSWORD": database.password,
        "LAKEBED_FILES_ENDPOINT": server.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": server.access_key_id,
        "LAKEBED_FILES_SECRET_ACCESS_KEY": server.secret_access_key,
    }
    said = python(UNEQUIPPED, bucket.url, tmp_path / "lakebed.yaml", environment=environment)[
        "said"
    ]
    canaries = (database.password, server.access_key_id, server.secret_access_key)
    assert (
        sightings(
            canaries,
            iter([("the message", said.encode())]),
            files(events, events.parent / "connect.log"),
        )
        == []
    )
    lacking = [line.split()[0] for line in said.splitlines() if line.startswith("  spark.")]
    assert lacking == [
        "spark.sql.catalog.lake.jdbc.password",
        "spark.sql.catalog.lake.s3.access-key-id",
        "spark.sql.catalog.lake.s3.secret-access-key",
        "spark.hadoop.fs.s3a.access.key",
        "spark.hadoop.fs.s3a.secret.key",
        "spark.redaction.regex",
    ], said
