"""Compares the identities of a lake's root and its database, and makes the first."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from lakebed.errors import FileExists, LakeExists
from lakebed.ports import Catalog, Files, IdentityRow, LakeIdentity
from lakebed.settings import Root
from lakebed.tables.ownership.changes import (
    Takeover,
    require_own_database,
    settle_here,
    take_over,
)
from lakebed.tables.ownership.evidence import has_table_files, knows_tables, points_into
from lakebed.tables.ownership.refusals import (
    empty_database,
    holds_a_lake,
    refusal,
    tables_elsewhere,
)
from lakebed.tables.ownership.root_file import (
    IDENTITY_FILE,
    RootIdentity,
    peek_root_identity,
)
from lakebed.tables.ownership.standing import Identities, Standing, standing_of

# A request that was sent before a takeover may arrive as late as this, too.
_RECENT_SECONDS = 1.0


class Ownership:
    """Tells whether this process may write to the lake, as its database owns it.

    `files` and `row` are those of the lake, without the guards that ask this.
    """

    def __init__(
        self,
        root: Root,
        files: Files,
        row: IdentityRow,
        catalog: Callable[[], Catalog],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root, self._files, self._row, self._catalog = root, files, row, catalog
        self._clock = clock
        self._turn = threading.RLock()
        self._checked: float | None = None  # when this process was last known to own the lake
        self._fills_database = False
        self._relocates = False

    # -- opening

    def open(self, *, strict: bool = True) -> None:
        """Prepare the database, and raise if the lake cannot be read with it; makes no identity.

        Without `strict`, the caller is about to make them belong together.
        """
        answer = self._peek_aside()
        self._row.prepare(before_first=lambda: self._refuse_first(answer()) if strict else None)
        row = self._row.read()
        root = answer()
        is_known = root is not None and row is not None and row.id == root.identity.id
        is_unclaimed = root is None and row is None
        if strict and not is_known and not is_unclaimed:
            self._refuse_reading(self._identities(root, row))

    def _peek_aside(self) -> Callable[[], RootIdentity | None]:
        """The root's identity; a bucket answers while the database is being connected to."""
        if not self._root.is_bucket:
            return lambda: peek_root_identity(self._files)
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(1)
        answer = pool.submit(peek_root_identity, self._files)
        pool.shutdown(wait=False)
        return answer.result

    def _refuse_first(self, root: RootIdentity | None) -> None:
        """An empty database cannot be that of a lake that has an identity, or tables."""
        if root is not None or has_table_files(self._files):
            raise empty_database(self._root, self._row)

    def _refuse_reading(self, seen: Identities) -> None:
        standing = standing_of(seen)
        if standing is Standing.OTHER_LAKE:
            raise refusal(self._root, self._row, seen)
        if standing is Standing.NOT_OWNER and seen.row is None and not self._points_here():
            raise tables_elsewhere(self._root, self._row)

    def claim_new(self) -> None:
        """Prepare the database and make the identity of a lake that is being created.

        `WrongDatabase` if the database holds another lake, `LakeExists` if the root has one.
        """
        seen = self.look()
        standing = standing_of(seen)
        if standing is Standing.UNCLAIMED and not self._row.is_blank():
            raise holds_a_lake(self._root, self._row)
        if standing in (Standing.NOT_OWNER, Standing.ELSEWHERE):
            raise LakeExists(str(self._root))
        self._row.prepare(before_first=lambda: None)
        self.require()

    # -- comparing

    def look(self) -> Identities:
        """The present identities."""
        # The row first: it is stored last, so where there is one, the root has had its file before.
        row = self._row.read()
        return self._identities(peek_root_identity(self._files), row)

    def _identities(self, root: RootIdentity | None, row: LakeIdentity | None) -> Identities:
        stored = {one.address for one in (root.identity if root else None, row) if one}
        links = (address for address in stored if self._leads_here(address))
        return Identities(
            root, row, str(self._root), self._row.fingerprint(), links=frozenset(links)
        )

    def _leads_here(self, address: str) -> bool:
        """Whether an address of the past is a symbolic link to this root now."""
        is_other_folder = "://" not in address and address != str(self._root)
        return is_other_folder and Root.parse(address) == self._root

    def require(self) -> None:
        """Raise unless this process may write to the lake; the first writer makes its identity."""
        if self._relocates:
            return
        with self._turn:
            seen = self._claimed(self.look())
            if standing_of(seen) is not Standing.OWNER:
                raise refusal(self._root, self._row, seen)
            self._checked = self._clock()

    def require_no_other(self, seen: Identities) -> None:
        """Raise if something keeps this process from writing; claims nothing."""
        allowed = (Standing.OWNER, Standing.CLAIMING, Standing.UNCLAIMED)
        if standing_of(seen) not in allowed:
            raise refusal(self._root, self._row, seen)

    def require_recently(self) -> None:
        """The same, unless it was found out within the last second."""
        with self._turn:
            checked = self._checked
            if checked is None or self._clock() - checked > _RECENT_SECONDS:
                self.require()

    def require_database(self) -> None:
        """The same for a change of the database alone, which may be filled before it owns the
        lake.
        """
        if not self._fills_database:
            self.require_recently()

    # -- the first identity

    def _claimed(self, seen: Identities) -> Identities:
        """The identities once this database has claimed a lake that had no owner."""
        if standing_of(seen) is Standing.UNCLAIMED:
            self._create(seen)
            seen = self.look()
        if standing_of(seen) is Standing.CLAIMING and seen.owner:
            self._row.store(seen.owner, instead_of=seen.row)
            seen = self.look()
        return seen

    def _create(self, seen: Identities) -> None:
        """Make the root's identity; of several writers, one does."""
        self._require_evidence()
        identity = LakeIdentity(
            id=uuid4().hex,
            address=seen.address,
            generation=1,
            fingerprint=seen.fingerprint,
        )
        try:
            self._files.create(IDENTITY_FILE, RootIdentity(identity).as_bytes())
        except FileExists:
            return  # another writer's, which is looked at next

    def _require_evidence(self) -> None:
        """Neither has an identity: their tables must not speak against it that they belong
        together. A wrong address would otherwise make a stranger the owner.
        """
        catalog = self._catalog()
        if catalog.owns_files:
            return  # where its tables lie proves nothing, and to list them all may take long
        if knows_tables(catalog):
            if not self._points_here():
                raise tables_elsewhere(self._root, self._row)
        elif self._row.is_blank() and has_table_files(self._files):
            raise empty_database(self._root, self._row)

    def _points_here(self) -> bool:
        return points_into(self._catalog(), self._files, self._root)

    # -- changes

    @contextmanager
    def filling(self) -> Iterator[None]:
        """While the block lasts, this database may be filled, whether it owns the lake or not: a
        backup is restored, or the catalog is rebuilt.
        """
        seen = self.look()
        standing = standing_of(seen)
        is_originals = standing is Standing.ELSEWHERE and seen.is_owners_database
        if standing is Standing.OTHER_LAKE or (is_originals and not self._row.is_in_root):
            raise refusal(self._root, self._row, seen)
        self._fills_database = True
        try:
            yield
        finally:
            self._fills_database = False

    @contextmanager
    def relocating(self, *, moved: bool, dry_run: bool) -> Iterator[bool]:
        """While the block lasts, a copied or moved lake may be changed. Afterwards it is at home
        where it is, with a new id unless it was `moved`. Gives whether it is not at home yet.
        """
        seen = self.look()
        standing = standing_of(seen)
        if standing is Standing.OTHER_LAKE and seen.root is not None:
            raise refusal(self._root, self._row, seen)
        # a copy without `.data` has no identity of its own
        is_away = standing in (Standing.ELSEWHERE, Standing.OTHER_LAKE)
        if is_away and not moved:
            require_own_database(self._row, seen)
        self._relocates = is_away or standing is Standing.UNCLAIMED
        try:
            yield is_away
            if is_away and not dry_run:
                settle_here(self._files, self._row, seen, keeps_id=moved)
        finally:
            self._relocates = False

    def take_over(self) -> Takeover:
        """Make this database the owner of the lake; every other one can only read from then on."""
        with self._turn:
            self._checked = None
            seen = self.look()
            if standing_of(seen) in (Standing.OTHER_LAKE, Standing.ELSEWHERE):
                raise refusal(self._root, self._row, seen)
            return take_over(self._files, self._row, seen)
