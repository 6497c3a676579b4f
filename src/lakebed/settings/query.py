"""Settings of queries."""

from pydantic import BaseModel, ByteSize, ConfigDict, Field


class QuerySettings(BaseModel):
    """Limits of queries, and of untrusted ones: `lake.query(sql, untrusted=True)`, the portal,
    HTTP.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: ByteSize | None = Field(
        default=None,
        gt=0,
        description=(
            "memory that all queries of a process may use together; unset: 80 % of the machine's"
        ),
    )
    cache_memory: ByteSize = Field(
        default=ByteSize(256 * 1_048_576),
        ge=0,
        description="memory for cached manifests, and the same again for footers of data files",
    )
    cache_disk: ByteSize = Field(
        default=ByteSize(512 * 1_048_576),
        ge=0,
        description="disk space for cached manifests in the user's cache folder",
    )
    untrusted_rows: int = Field(
        default=100_000,
        ge=1,
        description="rows that an untrusted query may return; the result says if there were more",
    )
    untrusted_bytes: ByteSize = Field(
        default=ByteSize(256 * 1_048_576),
        gt=0,
        description="size that the result of an untrusted query may have",
    )
    untrusted_seconds: float = Field(
        default=30.0, gt=0, description="an untrusted query is ended after this long"
    )
    untrusted_memory: ByteSize = Field(
        default=ByteSize(1_073_741_824),
        gt=0,
        description="an untrusted query is ended at this much memory",
    )
    untrusted_threads: int = Field(
        default=2, ge=1, description="cores that an untrusted query may use"
    )
    untrusted_ready: int = Field(
        default=1,
        ge=0,
        description="processes kept ready for untrusted queries, once there was one",
    )
