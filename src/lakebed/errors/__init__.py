"""Every error Lakebed raises on purpose, as one tree.

    LakebedError
    ├── UsageError              the request cannot be carried out; nothing was changed
    │   ├── NoLake              no lake where one was expected
    │   ├── LakeExists          there already is a lake
    │   ├── BadRoot             a root no engine can address safely
    │   ├── BadText             a file written for Lakebed is wrong, at a certain line
    │   │   ├── BadSettings     lakebed.yaml or a LAKEBED_* variable
    │   │   └── BadPipeline     a pipeline's files, a gate, a template or a zone.yaml
    │   │       └── PipelineCycle  pipelines read each other in a cycle
    │   ├── SeveralFaults       several pipelines cannot run; `faults` has the reason of each
    │   ├── BadQuery            a query that cannot be parsed, or is not allowed
    │   ├── BadName             a name that no table, zone or folder may have
    │   ├── NameCollision       two names that would share one table
    │   ├── NameTaken           a table, tag or branch of that name exists
    │   └── UnknownName         no such table, namespace, command …; similar names are suggested
    ├── MissingPart             something is not installed; the message says how to get it
    │   ├── MissingExtra        a Python package of one of our extras
    │   ├── MissingJava         no Java 17 or 21
    │   └── MissingJars         Spark's jars are neither cached nor reachable
    ├── Unavailable             a store or server does not answer (a retry may help)
    │   ├── CatalogUnreachable
    │   ├── CatalogFull
    │   └── FilesUnreachable
    ├── CatalogRefused          the catalog's database denies access: the role lacks a privilege
    ├── UnprotectedRead         a snapshot may expire while it is read, and cannot be protected
    ├── UpgradeNeeded           the database is of an older version, which this role may not upgrade
    ├── CatalogReadOnly         the catalog's database cannot be written to
    ├── CatalogLoginRefused     the catalog's server refuses access: password, database …
    ├── FilesRefused            the file store denies the request: access, space, no such bucket
    ├── UnsafeStore             a store without a guarantee that Lakebed relies on
    ├── FileMissing             a file that should be there is not
    ├── FileExists              the file exists, and must not be overwritten
    ├── FileReplaced            the file is no longer the one that was read (start over)
    ├── DamagedTable            a table's metadata cannot be read
    ├── PointsElsewhere         a table points outside the lake, which was copied or moved
    ├── PathUnresolved          the path of a table's file cannot be resolved
    ├── DamagedDataset          a Kartothek dataset's metadata, schema or index cannot be read
    │   └── TornFile            … because it is cut off; another writer may be writing it
    ├── UnsupportedDataset      a Kartothek dataset of another version or file format
    ├── DamagedDatabase         the lake's database file is damaged
    ├── DamagedRelease          files of a release or saved draft are missing or changed
    ├── NewerLake               the lake or its database was written by a newer Lakebed
    ├── WrongDatabase           the database is empty, or belongs to another lake
    ├── NotOwner                another database owns the lake: reading works, writing does not
    ├── CopiedLake              the lake was copied or moved: reading works, writing does not
    ├── DamagedIdentity         the lake's identity cannot be read
    ├── NewerFormat             a table has a newer Iceberg format than this Lakebed supports
    ├── ClockAhead              this machine's clock is ahead of the store's: it may not commit
    ├── WrittenAhead            a table's times are ahead of this machine's clock (a retry may help)
    ├── Conflict                another process was faster; nothing was published
    │   ├── PointerMoved        the table changed in the meantime (a retry helps)
    │   ├── RowsChanged         rows to replace were changed meanwhile: read them again
    │   ├── ColumnsChanged      columns being written were dropped or changed meanwhile: start over
    │   ├── TableDropped        another process dropped the table in the meantime
    │   ├── Diverged            the ref is no longer an ancestor of the branch: rebuild the branch
    │   ├── DatasetChanged      a Kartothek dataset changed before every try (a retry helps)
    │   ├── LeaseHeld           another process is changing the table (a later retry helps)
    │   └── LeaseLost           another process took over our lease: we may not commit
    ├── BadBatch                the rows of a batch cannot be written as requested
    ├── BadFiles                landing files cannot be read
    │   ├── FilesChanged        they changed while being read (a retry helps)
    │   ├── LinkRefused         a symbolic link leads out of its zone or source, or to nothing
    │   └── TypesChanged        another run has published a different type for a column
    ├── GateFailed              a quality gate found bad rows; the table is unchanged
    ├── NotPublished            another run of the same build failed, and all are published together
    ├── OutcomeUnknown          whether a run was published is unknown; it is not retried
    ├── QueryEnded              a query was stopped: a limit of time, memory or rows, or cancelled
    ├── RunFailed               a pipeline's code, or the engine on its behalf, failed
    ├── SparkFailed             Spark could not be started or died
    └── WorkerUnavailable       no worker can be used; commands run by themselves

`what` happened, `where`, whether data is `safe`, and what to do `next` are attributes of every
error; `retryable` says whether the same call may succeed later without a change, `overtaken` that
starting over may succeed at once; `exit_code` is what the command line returns.
"""

from lakebed.errors.base import (
    NOTHING_CHANGED,
    LakebedError,
    near,
    sentence,
    suggestion,
)
from lakebed.errors.identity import (
    CopiedLake,
    DamagedIdentity,
    NotOwner,
    WrongDatabase,
)
from lakebed.errors.kartothek import (
    DamagedDataset,
    DatasetChanged,
    TornFile,
    UnsupportedDataset,
)
from lakebed.errors.runs import (
    BadBatch,
    BadFiles,
    FilesChanged,
    GateFailed,
    LinkRefused,
    NotPublished,
    OutcomeUnknown,
    QueryEnded,
    RunFailed,
    SparkFailed,
    TypesChanged,
    WorkerUnavailable,
)
from lakebed.errors.stores import (
    CatalogFull,
    CatalogLoginRefused,
    CatalogReadOnly,
    CatalogRefused,
    CatalogUnreachable,
    FileExists,
    FileMissing,
    FileReplaced,
    FilesRefused,
    FilesUnreachable,
    LoginFault,
    MissingExtra,
    MissingJars,
    MissingJava,
    MissingPart,
    Unavailable,
    UnprotectedRead,
    UnsafeStore,
    UpgradeNeeded,
)
from lakebed.errors.tables import (
    ClockAhead,
    ColumnsChanged,
    Conflict,
    DamagedDatabase,
    DamagedRelease,
    DamagedTable,
    Diverged,
    LeaseHeld,
    LeaseLost,
    NewerFormat,
    NewerLake,
    PathUnresolved,
    PointerMoved,
    PointsElsewhere,
    RowsChanged,
    TableDropped,
    WrittenAhead,
)
from lakebed.errors.tracebacks import (
    WorkerTraceback,
    worker_traceback,
)
from lakebed.errors.usage import (
    BadName,
    BadPipeline,
    BadQuery,
    BadRoot,
    BadSettings,
    BadText,
    LakeExists,
    NameCollision,
    NameTaken,
    NoLake,
    PipelineCycle,
    SeveralFaults,
    UnknownName,
    UsageError,
    raise_all,
)

__all__ = [
    "NOTHING_CHANGED",
    "BadBatch",
    "BadFiles",
    "BadName",
    "BadPipeline",
    "BadQuery",
    "BadRoot",
    "BadSettings",
    "BadText",
    "CatalogFull",
    "CatalogLoginRefused",
    "CatalogReadOnly",
    "CatalogRefused",
    "CatalogUnreachable",
    "ClockAhead",
    "ColumnsChanged",
    "Conflict",
    "CopiedLake",
    "DamagedDatabase",
    "DamagedDataset",
    "DamagedIdentity",
    "DamagedRelease",
    "DamagedTable",
    "DatasetChanged",
    "Diverged",
    "FileExists",
    "FileMissing",
    "FileReplaced",
    "FilesChanged",
    "FilesRefused",
    "FilesUnreachable",
    "GateFailed",
    "LakeExists",
    "LakebedError",
    "LeaseHeld",
    "LeaseLost",
    "LinkRefused",
    "LoginFault",
    "MissingExtra",
    "MissingJars",
    "MissingJava",
    "MissingPart",
    "NameCollision",
    "NameTaken",
    "NewerFormat",
    "NewerLake",
    "NoLake",
    "NotOwner",
    "NotPublished",
    "OutcomeUnknown",
    "PathUnresolved",
    "PipelineCycle",
    "PointerMoved",
    "PointsElsewhere",
    "QueryEnded",
    "RowsChanged",
    "RunFailed",
    "SeveralFaults",
    "SparkFailed",
    "TableDropped",
    "TornFile",
    "TypesChanged",
    "Unavailable",
    "UnknownName",
    "UnprotectedRead",
    "UnsafeStore",
    "UnsupportedDataset",
    "UpgradeNeeded",
    "UsageError",
    "WorkerTraceback",
    "WorkerUnavailable",
    "WrittenAhead",
    "WrongDatabase",
    "near",
    "raise_all",
    "sentence",
    "suggestion",
    "worker_traceback",
]
