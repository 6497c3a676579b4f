"""The pinned jars that a lake's Spark needs, and their paths in the user's cache.

`fetch` gets them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lakebed.settings import PostgresCatalog, RestCatalog, Root, Settings, SqliteCatalog

ICEBERG = "1.12.0"
AWS_SDK = "2.54.17"  # the version in iceberg-aws-bundle: any other breaks s3a


@dataclass(frozen=True)
class Jar:
    """One pinned artifact of a Maven repository."""

    group: str
    name: str
    version: str
    size: int
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}.jar"

    def __str__(self) -> str:
        return f"{self.group}:{self.name}:{self.version}"


ICEBERG_SPARK = Jar(
    group="org.apache.iceberg",
    name="iceberg-spark-runtime-4.1_2.13",
    version=ICEBERG,
    size=48_309_426,
    sha256="3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
)
SQLITE = Jar(
    group="org.xerial",
    name="sqlite-jdbc",
    version="3.50.3.0",
    size=14_346_720,
    sha256="a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08",
)
POSTGRES = Jar(
    group="org.postgresql",
    name="postgresql",
    version="42.7.7",
    size=1_098_916,
    sha256="157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460",
)
S3 = (
    Jar(
        group="org.apache.iceberg",
        name="iceberg-aws-bundle",
        version=ICEBERG,
        size=69_034_612,
        sha256="dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957",
    ),
    Jar(
        group="org.apache.hadoop",
        name="hadoop-aws",
        version="3.4.2",
        size=936_997,
        sha256="d2d24e6b715b5656b9d238bf13b6682a07e2004dd36aad74a73aeb854319f4d9",
    ),
    Jar(
        group="software.amazon.awssdk",
        name="s3-transfer-manager",
        version=AWS_SDK,
        size=282_942,
        sha256="7bef0ea4efd5e0860bab63e08317040951edb51b72a5be734284c28b8324ab87",
    ),
    Jar(
        group="software.amazon.awssdk",
        name="apache-client",
        version=AWS_SDK,
        size=77_826,
        sha256="0b00ae3d55c3d1213ca47b5651dc4c2a0080fc9b6192dde3d53c3da6c1811bcb",
    ),
)

ALL_JARS = (ICEBERG_SPARK, SQLITE, POSTGRES, *S3)


def needed_jars(settings: Settings, root: Root) -> tuple[Jar, ...]:
    """The jars that this lake's Spark needs."""
    catalog = settings.catalog
    jars = [ICEBERG_SPARK]
    if isinstance(catalog, SqliteCatalog):
        jars.append(SQLITE)
    if isinstance(catalog, PostgresCatalog):
        jars.append(POSTGRES)
    if keeps_tables_in_s3(settings, root) or reads_s3(settings, root):
        jars.extend(S3)
    return tuple(jars)


def keeps_tables_in_s3(settings: Settings, root: Root) -> bool:
    """Whether tables are in a bucket, as a REST catalog may have it even if the root is a
    folder.
    """
    catalog = settings.catalog
    return root.is_bucket or (
        isinstance(catalog, RestCatalog)
        and (settings.files.reaches_s3 or catalog.warehouse.startswith("s3"))
    )


def reads_s3(settings: Settings, root: Root) -> bool:
    """Whether Spark reads files in a bucket: of the lake, or of sources outside of it. A machine
    with access of its own needs no more than the region.
    """
    files = settings.files
    return root.is_bucket or files.reaches_s3 or "region" in files.model_fields_set


def jars_folder(cache: Path) -> Path:
    return cache / "jars"


def absent(jars: Iterable[Jar], cache: Path) -> tuple[Jar, ...]:
    """The jars that are not completely in the cache, by name and size: cheap enough for every
    start.
    """
    return tuple(jar for jar in jars if not _is_whole(jars_folder(cache) / jar.file, jar.size))


def _is_whole(file: Path, size: int) -> bool:
    try:
        return file.stat().st_size == size
    except OSError:
        return False
