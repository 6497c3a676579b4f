"""Fetching jars into the user's cache through Apache Ivy, which comes with Spark."""

import fcntl
import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from lakebed.engines.spark.jars.pinned import Jar, absent, jars_folder, needed_jars
from lakebed.engines.spark.jars.truststore import write_truststore
from lakebed.engines.spark.start.home import spark_home
from lakebed.engines.spark.start.java import Java, find_java
from lakebed.errors import BadSettings, MissingJars
from lakebed.settings import Root, Settings, cache_folder, masked, without_secrets
from lakebed.sizes import format_size

Report = Callable[[str], None]
_ASIDE = ".fetching-"


def local_jars(
    settings: Settings,
    root: Root,
    *,
    environment: Mapping[str, str],
    report: Report,
    java: Java | None = None,
    also: Iterable[Jar] = (),
) -> tuple[Path, ...]:
    """The jar files for this lake's Spark: those named in its settings, or cached ones, fetched if
    necessary.
    """
    if settings.spark.jars:
        return tuple(_named(Path(jar).expanduser().absolute()) for jar in settings.spark.jars)
    cache, jars = (
        cache_folder(environment),
        tuple(dict.fromkeys((*needed_jars(settings, root), *also))),
    )
    if absent(jars, cache):
        repositories = settings.spark.repositories
        fetch_jars(
            jars,
            cache,
            java=java or find_java(environment),
            repositories=repositories,
            environment=environment,
            report=report,
        )
    return tuple(jars_folder(cache) / jar.file for jar in jars)


def _named(jar: Path) -> Path:
    if not jar.is_file():
        raise BadSettings(f"there is no jar {jar}.", where="spark.jars")
    return jar


def fetch_jars(
    jars: Iterable[Jar],
    cache: Path,
    *,
    java: Java,
    repositories: Iterable[str] = (),
    environment: Mapping[str, str],
    report: Report,
) -> None:
    """Fetch missing jars into the cache and verify them; one process fetches while others wait."""
    try:
        with _alone(jars_folder(cache)) as folder:
            for jar in absent(jars, cache):
                report(
                    f"Fetching {jar.name} {jar.version} ({format_size(jar.size)}), once for all"
                    " lakes"
                )
                _fetch(
                    jar,
                    folder,
                    java=java,
                    repositories=tuple(repositories),
                    environment=environment,
                )
    except OSError as error:
        missing = [jar.file for jar in absent(jars, cache)]
        raise MissingJars(missing, str(cache), f"{error.strerror or error}.") from error


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Hold the folder's lock, which the system releases if this process dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # left by a killed process; addresses in it may contain a password
        for left in folder.glob(f"{_ASIDE}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield folder


def _fetch(
    jar: Jar,
    folder: Path,
    *,
    java: Java,
    repositories: tuple[str, ...],
    environment: Mapping[str, str],
) -> None:
    aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=folder))
    try:
        (aside / "ivysettings.xml").write_text(ivy_settings(repositories, aside / "ivy"))
        options = (*proxy_options(environment), *write_truststore(java, aside / "truststore"))
        done = subprocess.run(
            ivy_command(jar, java=java, aside=aside, options=options),
            env=without_secrets(environment),
            capture_output=True,
            text=True,
            check=False,
        )
        fetched = aside / jar.file
        why = (
            refusal(done.stdout + done.stderr) if not fetched.is_file() else mismatch(jar, fetched)
        )
        if why:
            raise MissingJars([jar.file], str(folder), why)
        fetched.replace(folder / jar.file)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def ivy_settings(repositories: Iterable[str], cache: Path) -> str:
    """Ivy's settings: the given Maven repositories in order, then Ivy's default one."""
    from xml.sax.saxutils import quoteattr  # brings an HTTP client along, at every start of Spark

    roots = [f"root={quoteattr(url)}" for url in repositories] + [""]
    resolvers = "".join(
        f'<ibiblio name="m{number}" m2compatible="true" {root}/>'
        for number, root in enumerate(roots)
    )
    return (
        '<ivysettings><settings defaultResolver="all"/><caches'
        f' defaultCacheDir={quoteattr(str(cache))}/><resolvers><chain name="all"'
        f' returnFirst="true">{resolvers}</chain></resolvers></ivysettings>'
    )


def ivy_command(
    jar: Jar, *, java: Java, aside: Path, options: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The command that puts one jar, without its dependencies, into the folder `aside`."""
    # alone: with Spark's other jars it hides errors
    (ivy,) = (spark_home() / "jars").glob("ivy-*.jar")
    return (
        *(str(java.executable), *options, "-cp", str(ivy), "org.apache.ivy.Main"),
        *(
            "-settings",
            str(aside / "ivysettings.xml"),
            "-dependency",
            jar.group,
            jar.name,
            jar.version,
        ),
        *(
            "-notransitive",
            "-types",
            "jar",
            "-retrieve",
            str(aside / "[artifact]-[revision].[ext]"),
        ),
    )


def proxy_options(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Java's options for the proxies in the environment, read as other tools do."""
    options: list[str] = []
    for scheme in ("http", "https"):
        variable = f"{scheme}_proxy"
        proxy = urlsplit(environment.get(variable) or environment.get(variable.upper()) or "")
        if proxy.hostname:
            port = proxy.port or (443 if proxy.scheme == "https" else 80)
            options += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={port}"]
    direct = environment.get("no_proxy") or environment.get("NO_PROXY")
    if options and direct:
        hosts = (host.strip() for host in direct.split(","))
        options.append(
            "-Dhttp.nonProxyHosts="
            + "|".join(f"*{host}" if host.startswith(".") else host for host in hosts)
        )
    return tuple(options)


def refusal(said: str) -> str:
    """Why Ivy failed, in a few words."""
    errors = re.findall(r"Server access error at url (\S+) \((?:[\w.]+: )?(.+)\)", said)
    if errors:
        return (
            "; ".join(
                dict.fromkeys(
                    f"{urlsplit(url).netloc.rpartition('@')[2]}: {why}" for url, why in errors
                )
            )
            + "."
        )
    if "not found" in said:
        return "no repository has it."
    return masked((said.strip().splitlines() or ["the resolver said nothing"])[-1])


def mismatch(jar: Jar, file: Path) -> str:
    """What is wrong with the file, if anything: its content must have the pinned hash."""
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    return (
        ""
        if found == jar.sha256
        else f"its SHA-256 is {found[:12]}…, not {jar.sha256[:12]}… as pinned."
    )
