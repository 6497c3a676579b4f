"""What may be set about queries."""

from pydantic import BaseModel, ByteSize, ConfigDict, Field


class QuerySettings(BaseModel):
    """Limits of queries, and of untrusted ones: `lake.query(sql, untrusted=True)`, the portal, HTTP."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: ByteSize | None = Field(
        default=None,
        gt=0,
        description="how much memory the queries of a process may use together; without it, 80 % of the machine's",
    )
    cache_memory: ByteSize = Field(
        default=ByteSize(256 * 1_048_576),
        ge=0,
        description="how much of manifests, and again of footers of data files, a process keeps in memory",
    )
    cache_disk: ByteSize = Field(
        default=ByteSize(512 * 1_048_576),
        ge=0,
        description="how much of manifests is kept in the user's cache folder for the next process",
    )
    untrusted_rows: int = Field(
        default=100_000, ge=1, description="how many rows an untrusted query returns; the result says when there were more"
    )
    untrusted_bytes: ByteSize = Field(
        default=ByteSize(256 * 1_048_576), gt=0, description="how large the answer to an untrusted query may be"
    )
    untrusted_seconds: float = Field(default=30.0, gt=0, description="after how long an untrusted query is ended")
    untrusted_memory: ByteSize = Field(default=ByteSize(1_073_741_824), gt=0, description="at how much memory it is ended")
    untrusted_threads: int = Field(default=2, ge=1, description="how many cores it uses")
    untrusted_ready: int = Field(
        default=1, ge=0, description="how many processes are kept ready for the next untrusted query, from the second one on"
    )
