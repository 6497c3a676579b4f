"""Every error Lakebed raises on purpose, as one tree.

    LakebedError
    ├── UsageError              asked for something that cannot be; nothing was touched
    │   ├── NoLake              there is no lake where one was expected
    │   ├── LakeExists          init found a lake already there
    │   ├── BadRoot             a root no engine can address safely
    │   ├── BadText             a file that somebody wrote for Lakebed is wrong at some line
    │   │   ├── BadSettings     lakebed.yaml or a LAKEBED_* variable
    │   │   └── BadPipeline     a pipeline's files, a gate, a template or a zone.yaml
    │   ├── BadQuery            a query that cannot be read, or may not be asked
    │   ├── BadName             a name no table, zone or folder may have
    │   ├── NameCollision       two names that would share one table
    │   ├── NameTaken           a table, tag or branch of that name is there already
    │   └── UnknownName         no such table, namespace, command ...; near ones are suggested
    ├── MissingPart             the machine lacks something; the message says how to get it
    │   ├── MissingExtra        a Python package of one of our extras
    │   ├── MissingJava         no Java 17 or 21
    │   └── MissingJars         Spark's jars are neither cached nor reachable
    ├── Unavailable             a store or server does not answer (a retry may help)
    │   ├── CatalogUnreachable
    │   ├── CatalogFull
    │   └── FilesUnreachable
    ├── CatalogRefused          the catalog's database answers, and says no: the role lacks a right
    ├── FilesRefused            the file store answers, and says no: access, space, no such bucket
    ├── UnsafeStore             a store that breaks a promise we rely on
    ├── FileMissing             a file that should be there is not
    ├── FileExists              create-if-absent found the file there
    ├── DamagedTable            a table's metadata cannot be read
    ├── PointsElsewhere         a table of a lake that was copied or moved points at where it was
    ├── PathUnresolved          it cannot be told where a table's file lies
    ├── DamagedDatabase         the file of catalog and state is no database any more
    ├── DamagedRelease          content of a release or of a saved draft is gone or not what it was
    ├── NewerLake               the lake's database was written by a newer Lakebed
    ├── NewerFormat             a table is of a newer format version of Iceberg than is known here
    ├── Conflict                somebody else was first; nothing of ours was published
    │   ├── PointerMoved        the table's pointer moved meanwhile (a retry helps)
    │   ├── Diverged            the ref is no longer an ancestor of the branch: rebuild the branch
    │   ├── LeaseHeld           another holder works on the table (a later retry helps)
    │   └── LeaseLost           our lease passed to somebody else: we may not commit
    ├── BadBatch                the rows of a batch cannot enter the table as asked
    ├── BadFiles                landing files cannot be read
    │   └── FilesChanged        they changed while they were read (a retry helps)
    ├── GateFailed              a quality gate found bad rows; the table is as it was
    ├── NotPublished            another run of the same build failed, and all are published together
    ├── OutcomeUnknown          nobody can say whether a run was published; it is not repeated by itself
    ├── QueryEnded              a query was ended: its time, memory or rows were spent, or somebody cancelled it
    ├── RunFailed               a pipeline's code, or the engine on its behalf, failed
    └── SparkFailed             Spark could not be started or died

`what` happened, `where`, whether data is `safe`, and what to do `next` are attributes of every error; `retryable`
says whether the same call may succeed later without a change; `exit_code` is what the command line returns.
"""

from lakebed.errors.base import (
    NOTHING_CHANGED,
    LakebedError,
    near,
    sentence,
    suggestion,
)
from lakebed.errors.runs import (
    BadBatch,
    BadFiles,
    FilesChanged,
    GateFailed,
    NotPublished,
    OutcomeUnknown,
    QueryEnded,
    RunFailed,
    SparkFailed,
)
from lakebed.errors.stores import (
    CatalogFull,
    CatalogRefused,
    CatalogUnreachable,
    FileExists,
    FileMissing,
    FilesRefused,
    FilesUnreachable,
    MissingExtra,
    MissingJars,
    MissingJava,
    MissingPart,
    Unavailable,
    UnsafeStore,
)
from lakebed.errors.tables import (
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
    UnknownName,
    UsageError,
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
    "CatalogRefused",
    "CatalogUnreachable",
    "Conflict",
    "DamagedDatabase",
    "DamagedRelease",
    "DamagedTable",
    "Diverged",
    "FileExists",
    "FileMissing",
    "FilesChanged",
    "FilesRefused",
    "FilesUnreachable",
    "GateFailed",
    "LakeExists",
    "LakebedError",
    "LeaseHeld",
    "LeaseLost",
    "MissingExtra",
    "MissingJars",
    "MissingJava",
    "MissingPart",
    "NameCollision",
    "NameTaken",
    "NewerFormat",
    "NewerLake",
    "NoLake",
    "NotPublished",
    "OutcomeUnknown",
    "PathUnresolved",
    "PointerMoved",
    "PointsElsewhere",
    "QueryEnded",
    "RunFailed",
    "SparkFailed",
    "Unavailable",
    "UnknownName",
    "UnsafeStore",
    "UsageError",
    "WorkerTraceback",
    "near",
    "sentence",
    "suggestion",
    "worker_traceback",
]
