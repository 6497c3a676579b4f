"""What may be set about queries."""

from pydantic import BaseModel, ByteSize, ConfigDict, Field


class QuerySettings(BaseModel):
    """What one query of a stranger may take: `lake.query(sql, untrusted=True)`, the portal, HTTP."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    untrusted_rows: int = Field(
        default=100_000, ge=1, description="how many rows a stranger is answered; that more are left is said"
    )
    untrusted_bytes: ByteSize = Field(
        default=ByteSize(256 * 1_048_576), gt=0, description="how large a stranger's answer may grow"
    )
    untrusted_seconds: float = Field(default=30.0, gt=0, description="after how long a stranger's query is ended")
    untrusted_memory: ByteSize = Field(default=ByteSize(1_073_741_824), gt=0, description="at how much memory it is ended")
    untrusted_threads: int = Field(default=2, ge=1, description="how many cores it uses")
