"""When a class-data archive is used, and when it is made."""

import os
import sys
from pathlib import Path

import pytest

from lakebed.engines.spark.start.class_archive import (
    ClassArchive,
    _makers,
    archive_for,
    archive_key,
    is_wanted,
    make_in_background,
    reading_options,
    writing_options,
)
from lakebed.engines.spark.start.java import Java
from lakebed.engines.spark.start.make_class_archive import _alone, _sweep


def archive(folder: Path, *, base: str = "") -> ClassArchive:
    return ClassArchive(folder, "spark-1", base)


def finished(folder: Path, key: str, content: bytes = b"classes") -> Path:
    file = folder / f"{key}.{len(content)}.jsa"
    file.write_bytes(content)
    return file


def test_no_archive_no_option(tmp_path: Path) -> None:
    assert reading_options(archive(tmp_path)) == ()
    assert reading_options(archive(tmp_path / "nowhere")) == ()


def test_a_whole_archive_is_used(tmp_path: Path) -> None:
    file = finished(tmp_path, "spark-1")
    assert f"-XX:SharedArchiveFile={file}" in reading_options(archive(tmp_path))


def test_a_truncated_archive_is_never_used(tmp_path: Path) -> None:
    file = finished(tmp_path, "spark-1")
    os.truncate(file, 3)
    assert reading_options(archive(tmp_path)) == ()
    assert is_wanted(archive(tmp_path), {})


def test_an_archive_in_the_making_is_not_used(tmp_path: Path) -> None:
    (tmp_path / ".spark-1.aside").write_bytes(b"half")
    assert reading_options(archive(tmp_path)) == ()


def test_a_java_without_base_archive_needs_both(tmp_path: Path) -> None:
    two = archive(tmp_path, base="base-1")
    top = finished(tmp_path, "spark-1")
    assert reading_options(two) == ()
    base = finished(tmp_path, "base-1", b"base")
    assert f"-XX:SharedArchiveFile={base}:{top}" in reading_options(two)
    assert f"-XX:SharedArchiveFile={base}" in writing_options(two, tmp_path / "aside")


def test_a_distrusted_archive_is_gone(tmp_path: Path) -> None:
    finished(tmp_path, "spark-1")
    archive(tmp_path).distrust()
    assert archive(tmp_path).file is None
    archive(tmp_path).distrust()


def test_it_is_wanted_once_and_not_against_the_users_will(tmp_path: Path) -> None:
    assert is_wanted(archive(tmp_path), {})
    assert not is_wanted(archive(tmp_path), {"LAKEBED_TEST_NO_ARCHIVE": "1"})
    finished(tmp_path, "spark-1")
    assert not is_wanted(archive(tmp_path), {})


def test_a_cache_that_cannot_be_written_goes_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not is_wanted(archive(tmp_path / "file" / "archives"), {})


def test_a_failed_attempt_is_not_repeated_at_once(tmp_path: Path) -> None:
    lock = archive(tmp_path).lock
    lock.touch()
    assert not is_wanted(archive(tmp_path), {})
    os.utime(lock, (0, 0))
    assert is_wanted(archive(tmp_path), {})


def test_archives_that_nobody_uses_are_swept_away(tmp_path: Path) -> None:
    old, used, half = (
        finished(tmp_path, "spark-0"),
        finished(tmp_path, "spark-1"),
        tmp_path / ".spark-2.aside",
    )
    half.touch()
    for file in (old, used, half):
        os.utime(file, (0, 0))
    archive(tmp_path).mark_used()
    _sweep(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [used.name]


def test_only_one_process_makes_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with _alone(lock) as first, _alone(lock) as second:
        assert (first, second) == (True, False)
    with _alone(lock) as third:
        assert third


def test_it_is_made_by_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        f"import os; open({str(tmp_path / 'made')!r}, 'w').write(str(os.getsid(0) == os.getpid()))"
    )
    monkeypatch.setattr(
        "lakebed.engines.spark.start.class_archive.maker_command",
        lambda *_: (sys.executable, "-c", script),
    )
    make_in_background(Java(tmp_path, "17", 17, "PATH"), (), environment=os.environ)
    assert _makers[-1].wait(30) == 0
    assert (tmp_path / "made").read_text() == "True"


def test_the_key_changes_with_java_and_with_every_jar(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"1")
    java = Java(tmp_path, "17.0.15", 17, "PATH")
    environment = {"LAKEBED_CACHE": str(tmp_path)}
    keys = {
        archive_for(java, (jar,), environment=environment).key,
        archive_for(java, (), environment=environment).key,
    }
    keys.add(
        archive_for(Java(tmp_path, "17.0.16", 17, "PATH"), (jar,), environment=environment).key
    )
    jar.write_bytes(b"22")
    keys.add(archive_for(java, (jar,), environment=environment).key)
    assert len(keys) == 4


@pytest.mark.parametrize("other", [("a", "b"), ("ab", ""), ("b", "a")])
def test_keys_do_not_run_together(other: tuple[str, str]) -> None:
    assert archive_key("spark", "a", "", "b") != archive_key("spark", *other)
