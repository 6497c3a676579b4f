"""Files read whole: small ones at once, large ones piece by piece, with every checksum there is."""

import zlib
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.engines.files import FolderFiles
from lakebed.engines.iceberg.upkeep import file_contents
from lakebed.engines.iceberg.upkeep.file_contents import content_of
from lakebed.errors import FileMissing

ROWS = pa.table(
    {
        "id": pa.array(range(2000), pa.int64()),
        "name": [f"name {number % 7}" for number in range(2000)],
    }
)


@pytest.fixture(params=["at once", "piece by piece"])
def files(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FolderFiles:
    if request.param == "piece by piece":
        monkeypatch.setattr(file_contents, "_IN_MEMORY", 0)
        monkeypatch.setattr(file_contents, "_PIECE", 1024)
    return FolderFiles(tmp_path)


def written(files: FolderFiles, *, page_sums: bool = True) -> Path:
    file = Path(files.where) / "a.parquet"
    pq.write_table(
        ROWS, file, write_page_checksum=page_sums, compression="none", use_dictionary=False
    )
    return file


def beside(file: Path) -> None:
    """The checksums that Hadoop leaves."""
    data = file.read_bytes()
    sums = b"".join(
        zlib.crc32(data[start : start + 512]).to_bytes(4) for start in range(0, len(data), 512)
    )
    file.with_name(f".{file.name}.crc").write_bytes(b"crc\0" + (512).to_bytes(4) + sums)


def flipped(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


def test_a_sound_file_has_its_digest_and_no_fault(files: FolderFiles) -> None:
    file = written(files)
    beside(file)
    content = content_of(files, "a.parquet", rows=2000)
    assert (content.sha256, content.size, content.fault) == (
        sha256(file.read_bytes()).hexdigest(),
        file.stat().st_size,
        "",
    )


def test_a_value_that_still_decodes_is_found_by_the_checksum_of_its_page(
    files: FolderFiles,
) -> None:
    flipped(written(files, page_sums=False), 5000)
    assert content_of(files, "a.parquet", rows=2000).fault == ""
    flipped(written(files), 5000)
    assert content_of(files, "a.parquet", rows=2000).fault


@pytest.mark.parametrize("at", [0, 5000, -30, -1])
def test_any_byte_is_found_by_the_checksums_beside_it(files: FolderFiles, at: int) -> None:
    file = written(files, page_sums=False)
    beside(file)
    flipped(file, at)
    assert "beside it" in content_of(files, "a.parquet", rows=2000).fault


def test_another_number_of_rows_and_what_is_no_parquet_are_faults(files: FolderFiles) -> None:
    file = written(files)
    assert "2,000 rows" in content_of(files, "a.parquet", rows=1999).fault
    file.write_bytes(file.read_bytes()[:-100])
    assert content_of(files, "a.parquet", rows=2000).fault
    file.write_bytes(b"")
    assert content_of(files, "a.parquet", rows=None).fault


def test_other_files_have_a_digest_only_and_absent_ones_are_told(files: FolderFiles) -> None:
    files.write("a.avro", b"anything")
    assert content_of(files, "a.avro", rows=None).fault == ""
    with pytest.raises(FileMissing):
        content_of(files, "b.avro", rows=None)
