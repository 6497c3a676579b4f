"""Which database may write to a lake: decided by what the root and the database both remember."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import CopiedLake, FileMissing, NewerLake, NotOwner, UsageError, WrongDatabase
from lakebed.ports import Files, IdentityRow, LakeIdentity
from lakebed.settings import Root
from lakebed.tables.ownership import (
    IDENTITY_FILE,
    LakeFormat,
    OwnedFiles,
    Ownership,
    RootIdentity,
    Standing,
    raise_format,
    standing_of,
)
from lakebed.tables.ownership.standing import Identities
from lakebed.testing import MemoryCatalog, MemoryFiles, MemoryIdentity

ROOT = Root.parse("s3://lake/prod")
LAKE = LakeIdentity(id="lake", address=str(ROOT), generation=3, fingerprint="mine")


@dataclass
class Clock:
    """A time that passes only if it is told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Site:
    """A root, a database, and a process that works with both."""

    files: Files = field(default_factory=MemoryFiles)
    row: IdentityRow = field(default_factory=MemoryIdentity)
    catalog: MemoryCatalog = field(default_factory=MemoryCatalog)
    root: Root = ROOT
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.row.prepare(before_first=lambda: None)
        self.ownership = Ownership(
            self.root, self.files, self.row, lambda: self.catalog, clock=self.clock
        )

    def beside(self) -> "Site":
        """Another database, with the same root and a copy of all rows."""
        other = Site(files=self.files)
        other.row.store(self.stored(), instead_of=None)
        return other

    def stored(self) -> LakeIdentity:
        identity = self.row.read()
        assert identity
        return identity


def seen(
    *,
    root: LakeIdentity | None = LAKE,
    row: LakeIdentity | None = LAKE,
    fingerprint: str = "mine",
    copy_of: str | None = None,
) -> Identities:
    content = RootIdentity(root, copy_of=copy_of) if root else None
    return Identities(content, row, str(ROOT), fingerprint)


AWAY = replace(LAKE, address="s3://lake/old")
OTHER = replace(LAKE, id="other")


@pytest.mark.parametrize(
    ("identities", "standing"),
    [
        (seen(), Standing.OWNER),
        (seen(root=None, row=None), Standing.UNCLAIMED),
        (seen(row=None), Standing.CLAIMING),
        (seen(row=None, fingerprint="theirs"), Standing.NOT_OWNER),
        (seen(fingerprint="theirs"), Standing.NOT_OWNER),
        (seen(row=replace(LAKE, generation=2)), Standing.NOT_OWNER),
        (seen(row=replace(LAKE, generation=4)), Standing.NOT_OWNER),
        (seen(root=None), Standing.NOT_OWNER),
        (seen(root=None, row=AWAY), Standing.OTHER_LAKE),
        (seen(row=OTHER), Standing.OTHER_LAKE),
        (seen(root=AWAY, row=AWAY), Standing.ELSEWHERE),
        (seen(root=AWAY, row=None), Standing.ELSEWHERE),
        (seen(row=AWAY), Standing.ELSEWHERE),
        (seen(row=OTHER, copy_of="other"), Standing.CLAIMING),
        (seen(row=OTHER, copy_of="other", fingerprint="theirs"), Standing.OTHER_LAKE),
    ],
)
def test_who_may_write_follows_from_both_identities(
    identities: Identities, standing: Standing
) -> None:
    assert standing_of(identities) is standing


def test_reading_makes_no_identity_and_the_first_write_does() -> None:
    site = Site()
    site.ownership.open()
    assert (list(site.files.list()), site.row.read()) == ([], None)
    OwnedFiles(site.files, site.ownership).write("shop/landing/orders/a.csv", b"id\n1\n")
    document = json.loads(site.files.read(IDENTITY_FILE))
    assert document["address"] == str(ROOT)
    assert (document["id"], document["generation"]) == (site.stored().id, 1)


def test_of_two_databases_that_write_first_one_owns_the_lake() -> None:
    files = MemoryFiles()
    sites = [Site(files=files) for _ in range(8)]

    def write(site: Site) -> bool:
        try:
            site.ownership.require()
        except NotOwner:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        wrote = list(pool.map(write, sites))
    assert wrote.count(True) == 1
    assert json.loads(files.read(IDENTITY_FILE))["id"] == sites[wrote.index(True)].stored().id


def test_first_writers_of_one_database_agree_on_one_id(tmp_path: Path) -> None:
    files, row = FolderFiles(tmp_path), MemoryIdentity()
    sites = [Site(files=files, row=row) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda site: site.ownership.require(), sites))
    assert json.loads(files.read(IDENTITY_FILE))["id"] == sites[0].stored().id


def test_a_first_claim_that_was_killed_half_way_is_completed() -> None:
    site = Site()
    identity = replace(LAKE, fingerprint=site.row.fingerprint())
    site.files.create(IDENTITY_FILE, RootIdentity(identity).as_bytes())
    site.ownership.require()
    assert site.stored() == identity


def test_a_copy_of_the_database_reads_and_deletes_nothing() -> None:
    production = Site()
    production.ownership.require()
    production.files.write("shop/warehouse/silver/t/data/a.parquet", b"rows")
    drill = production.beside()
    drill.ownership.open()
    files = OwnedFiles(drill.files, drill.ownership)
    with pytest.raises(NotOwner, match="lakebed takeover"):
        files.delete("shop/warehouse/silver/t/data/a.parquet")
    with pytest.raises(NotOwner):
        files.clear("shop")
    assert files.read("shop/warehouse/silver/t/data/a.parquet") == b"rows"
    production.ownership.require()


def test_after_a_takeover_an_open_process_of_the_former_owner_deletes_nothing() -> None:
    former = Site()
    former.files.write("shop/warehouse/silver/t/data/a.parquet", b"rows")
    files = OwnedFiles(former.files, former.ownership)
    files.write("shop/landing/orders/a.csv", b"")
    new = former.beside()
    done = new.ownership.take_over()
    assert done.before
    assert (done.before.generation, done.now.generation) == (1, 2)
    assert done.now.id == done.before.id
    former.clock.now += 1.1
    with pytest.raises(NotOwner):
        files.delete("shop/warehouse/silver/t/data/a.parquet")
    with pytest.raises(NotOwner):
        former.ownership.require()
    OwnedFiles(new.files, new.ownership).delete("shop/landing/orders/a.csv")
    former.ownership.take_over()
    former.ownership.require()


def test_databases_with_one_fingerprint_are_told_apart_by_their_generation() -> None:
    """One of them is a copy of the other's disk."""
    original = Site()
    original.ownership.require()
    clone = original.beside()
    clone.row._fingerprint = original.row.fingerprint()  # type: ignore[attr-defined]
    clone.ownership.take_over()
    clone.ownership.require()
    with pytest.raises(NotOwner, match="generation 1 of the lake"):
        original.ownership.require()


def test_of_two_takeovers_at_once_one_succeeds() -> None:
    production = Site()
    production.ownership.require()
    sites = [production.beside() for _ in range(6)]

    def take_over(site: Site) -> bool:
        try:
            site.ownership.take_over()
        except UsageError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(take_over, sites))
    generation = json.loads(production.files.read(IDENTITY_FILE))["generation"]
    assert generation == 1 + done.count(True)
    owners = []
    for site in sites:
        try:
            site.ownership.require()
        except NotOwner:
            continue
        owners.append(site)
    assert len(owners) == 1


def test_a_takeover_that_was_killed_half_way_is_made_again() -> None:
    site = Site()
    site.ownership.require()
    ahead = replace(site.stored(), generation=2)
    site.files.write(IDENTITY_FILE, RootIdentity(ahead).as_bytes())
    with pytest.raises(NotOwner):
        site.ownership.require()
    assert site.ownership.take_over().now.generation == 3
    site.ownership.require()


def test_a_lost_identity_file_stops_writes_until_a_takeover() -> None:
    site = Site()
    site.ownership.require()
    site.files.delete(IDENTITY_FILE)
    with pytest.raises(NotOwner, match="lost its identity"):
        site.ownership.require()
    site.ownership.open()
    site.ownership.take_over()
    site.ownership.require()


def test_a_database_of_another_lake_is_not_even_read() -> None:
    one, other = Site(), Site(root=Root.parse("s3://lake/other"))
    one.ownership.require()
    other.ownership.require()
    mixed = Site(files=one.files, row=other.row)
    for act in (mixed.ownership.open, mixed.ownership.require, mixed.ownership.take_over):
        with pytest.raises(WrongDatabase, match="belongs to the lake at s3://lake/other"):
            act()


def test_a_copy_becomes_a_lake_of_its_own_even_if_that_was_interrupted() -> None:
    original = Site()
    original.ownership.require()
    here = Root.parse("s3://replica/prod")
    copy = Site(root=here)
    copy.files.write(IDENTITY_FILE, original.files.read(IDENTITY_FILE))
    copy.row.store(original.stored(), instead_of=None)
    copy.ownership.open()
    with pytest.raises(CopiedLake, match=r"from s3://lake/prod.*lakebed relocate"):
        copy.ownership.require()
    with copy.ownership.relocating(moved=False, dry_run=True):
        copy.ownership.require()
    with pytest.raises(CopiedLake):
        copy.ownership.require()
    dump = copy.stored()
    with copy.ownership.relocating(moved=False, dry_run=False):
        pass
    copy.ownership.require()
    new = copy.stored()
    assert (new.address, new.id != dump.id) == (str(here), True)
    copy.row.store(dump, instead_of=new)  # as if it had been killed before the row was stored
    copy.ownership.open()
    copy.ownership.require()
    assert copy.stored() == new
    original.ownership.require()


def test_a_copy_is_not_relocated_with_the_database_of_the_original() -> None:
    original = Site()
    original.ownership.require()
    copy = Site(root=Root.parse("s3://replica/prod"), row=original.row)
    copy.files.write(IDENTITY_FILE, original.files.read(IDENTITY_FILE))
    with (
        pytest.raises(UsageError, match="is that of the lake at s3://lake/prod"),
        copy.ownership.relocating(moved=False, dry_run=False),
    ):
        pass
    with pytest.raises(CopiedLake), copy.ownership.filling():
        pass
    original.ownership.require()
    with copy.ownership.relocating(moved=True, dry_run=False):
        pass
    copy.ownership.require()
    assert copy.stored().id == json.loads(original.files.read(IDENTITY_FILE))["id"]
    with pytest.raises(CopiedLake, match="s3://replica/prod"):
        original.ownership.require()


def test_a_lake_with_a_newer_format_is_refused_with_the_reason() -> None:
    site = Site()
    raise_format(site.files, LakeFormat.LEDGER_DECISIONS)
    assert not list(site.files.list()), "the first writer makes an identity, not this"
    site.ownership.require()
    raise_format(site.files, LakeFormat.LEDGER_DECISIONS)
    document = json.loads(site.files.read(IDENTITY_FILE))
    assert document["format"] == 2
    raise_format(site.files, LakeFormat.IDENTITY)
    assert json.loads(site.files.read(IDENTITY_FILE)) == document
    site.ownership.take_over()
    assert json.loads(site.files.read(IDENTITY_FILE))["format"] == 2
    newer = document | {"format": max(LakeFormat) + 1, "id": {"unlike": "ours"}}
    site.files.write(IDENTITY_FILE, json.dumps(newer).encode())
    for act in (site.ownership.open, site.ownership.require, site.ownership.take_over):
        with pytest.raises(NewerLake, match=r"the lake has format 3.*pip install -U lakebed"):
            act()


class ClaimedMeanwhile(MemoryFiles):
    """A root that another process claims just after this one has found no identity in it."""

    other: Site | None = None

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        try:
            return super().read(path, start=start, length=length)
        except FileMissing:
            if path == IDENTITY_FILE and (other := self.other):
                self.other = None
                other.ownership.require()
            raise


def test_of_two_first_writers_at_once_neither_is_refused() -> None:
    files = ClaimedMeanwhile()
    first = Site(files=files)
    files.other = Site(files=files, row=first.row)
    first.ownership.require()
    assert first.stored().generation == 1
