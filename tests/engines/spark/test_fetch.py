"""Fetching jars, from a Maven repository of our own on the loopback address."""

import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lakebed.engines.spark.jars.fetch import (
    fetch_jars,
    ivy_settings,
    local_jars,
    proxy_options,
    refusal,
)
from lakebed.engines.spark.jars.pinned import Jar, jars_folder
from lakebed.engines.spark.start.java import find_java
from lakebed.errors import BadSettings, MissingJars
from lakebed.settings import Root, Settings, SparkSettings
from tests.support.lakes.spark_lakes import ENVIRONMENT

CONTENT = b"not really a jar"
JAR = Jar("org.example", "thing", "1.0", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>org.example</groupId><artifactId>thing</artifactId><version>1.0</version></project>"""
# Nobody listens there: whatever is not in our repository cannot be reached.
NO_NETWORK = ENVIRONMENT | {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}


class Repository(ThreadingHTTPServer):
    """A folder served by HTTP, with a list of what was asked for."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        repository = self

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                if self.command == "GET":
                    repository.asked.append(self.path)

        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    folder = tmp_path / "maven" / "org" / "example" / "thing" / "1.0"
    folder.mkdir(parents=True)
    (folder / "thing-1.0.jar").write_bytes(CONTENT)
    (folder / "thing-1.0.pom").write_text(POM)
    server = Repository(tmp_path / "maven")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(cache: Path, repository: Repository, jar: Jar = JAR) -> list[str]:
    told: list[str] = []
    java = find_java(ENVIRONMENT)
    fetch_jars(
        (jar,),
        cache,
        java=java,
        repositories=(repository.url,),
        environment=NO_NETWORK,
        report=told.append,
    )
    return told


@pytest.mark.spark
def test_a_jar_is_fetched_once_with_a_line_that_says_so(
    tmp_path: Path, repository: Repository
) -> None:
    (line,) = fetch(tmp_path / "cache", repository)
    assert line.startswith("Fetching thing 1.0 (")
    assert (jars_folder(tmp_path / "cache") / JAR.file).read_bytes() == CONTENT
    before = len(repository.asked)
    assert fetch(tmp_path / "cache", repository) == []
    assert len(repository.asked) == before
    assert [
        file.name for file in jars_folder(tmp_path / "cache").iterdir() if file.name != ".lock"
    ] == [JAR.file]


@pytest.mark.spark
def test_a_jar_with_another_content_is_refused(tmp_path: Path, repository: Repository) -> None:
    pinned = Jar(JAR.group, JAR.name, JAR.version, JAR.size, "0" * 64)
    with pytest.raises(MissingJars, match="SHA-256"):
        fetch(tmp_path / "cache", repository, pinned)
    assert not (jars_folder(tmp_path / "cache") / JAR.file).exists()


FETCH = """
import os, sys
from pathlib import Path
from lakebed.engines.spark.jars.fetch import fetch_jars
from lakebed.engines.spark.jars.pinned import Jar
from lakebed.engines.spark.start.java import find_java
jar = Jar("org.example", "thing", "1.0", int(sys.argv[3]), sys.argv[4])
java, repositories = find_java(os.environ), (sys.argv[2],)
fetch_jars((jar,), Path(sys.argv[1]), java=java, repositories=repositories, environment=os.environ, report=print)
"""


@pytest.mark.spark
def test_of_several_processes_one_fetches_and_all_have_it(
    tmp_path: Path, repository: Repository
) -> None:
    command = [
        sys.executable,
        "-c",
        FETCH,
        str(tmp_path / "cache"),
        repository.url,
        str(JAR.size),
        JAR.sha256,
    ]
    processes = [
        subprocess.Popen(command, env=NO_NETWORK, stdout=subprocess.DEVNULL) for _ in range(3)
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert repository.asked.count("/org/example/thing/1.0/thing-1.0.jar") == 1


@pytest.mark.spark
def test_an_offline_first_start_is_told_in_a_few_words(tmp_path: Path) -> None:
    settings = Settings(spark=SparkSettings(repositories=("http://127.0.0.1:9/maven",)))
    environment = NO_NETWORK | {"LAKEBED_CACHE": str(tmp_path / "cache")}
    with pytest.raises(MissingJars) as refused:
        local_jars(settings, Root.parse(tmp_path), environment=environment, report=print)
    assert "iceberg-spark-runtime-4.1_2.13-1.12.0.jar" in refused.value.jars
    assert "127.0.0.1:9: Connection refused" in str(refused.value)
    assert len(str(refused.value)) < 700
    assert refused.value.retryable


def test_jars_that_the_settings_name_are_taken_as_they_are(tmp_path: Path) -> None:
    jar = tmp_path / "mine.jar"
    jar.touch()
    settings = Settings(spark=SparkSettings(jars=(str(jar),)))
    assert local_jars(settings, Root.parse(tmp_path), environment={}, report=print) == (jar,)


def test_a_named_jar_that_is_not_there_is_refused(tmp_path: Path) -> None:
    settings = Settings(spark=SparkSettings(jars=(str(tmp_path / "gone.jar"),)))
    with pytest.raises(BadSettings, match="gone"):
        local_jars(settings, Root.parse(tmp_path), environment={}, report=print)


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MissingJars, match="Not a directory"):
        fetch_jars(
            (JAR,),
            tmp_path / "file" / "cache",
            java=find_java(ENVIRONMENT),
            environment=ENVIRONMENT,
            report=print,
        )


def test_given_repositories_are_asked_before_the_usual_one() -> None:
    text = ivy_settings(["http://one/?a&b", "http://two/"], Path("/cache"))
    assert 'root="http://one/?a&amp;b"' in text
    assert (
        text.index("one")
        < text.index("two")
        < text.index('<ibiblio name="m2" m2compatible="true" />')
    )


def test_proxies_are_read_as_other_tools_read_them() -> None:
    environment = {
        "https_proxy": "http://proxy:3128",
        "HTTP_PROXY": "http://old",
        "NO_PROXY": "localhost, .corp",
    }
    assert proxy_options(environment) == (
        *(
            "-Dhttp.proxyHost=old",
            "-Dhttp.proxyPort=80",
            "-Dhttps.proxyHost=proxy",
            "-Dhttps.proxyPort=3128",
        ),
        "-Dhttp.nonProxyHosts=localhost|*.corp",
    )
    assert proxy_options({"NO_PROXY": "x"}) == ()


def test_the_resolvers_words_are_shortened() -> None:
    said = (
        "Server access error at url https://host/a.pom (java.net.ConnectException: Connection"
        " refused)\nServer access error at url https://host/a.jar (java.net.ConnectException:"
        " Connection refused)\n"
    )
    assert refusal(said) == "host: Connection refused."
    assert refusal(":: g#n;1: not found") == "no repository has it."
    assert refusal("") == "the resolver said nothing"


def test_what_a_killed_fetch_left_is_swept_for_its_addresses_may_hold_a_password(
    repository: Repository, tmp_path: Path
) -> None:
    left = jars_folder(tmp_path / "cache") / ".fetching-killed"
    left.mkdir(parents=True)
    (left / "ivysettings.xml").write_text(
        ivy_settings(["https://me:hunter2@maven/repo"], left / "ivy")
    )
    java = find_java(ENVIRONMENT)
    where = (repository.url,)
    fetch_jars(
        [JAR],
        tmp_path / "cache",
        java=java,
        repositories=where,
        environment=NO_NETWORK,
        report=print,
    )
    assert [file.name for file in left.parent.iterdir() if file.name != ".lock"] == [JAR.file]
