"""How locations of Kartothek datasets are reached."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from lakebed.settings.secrecy import web_address


class KartothekSettings(BaseModel):
    """How locations of Kartothek datasets are reached. Unset: S3 as the lake's own bucket, Azure
    and Google as their own tools would.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str | None = Field(
        default=None, description="for s3://: address of an S3-compatible server"
    )
    region: str | None = Field(default=None, description="for s3://: region of the bucket")
    path_style: bool | None = Field(
        default=None, description="for s3://: bucket in the path instead of in the host name"
    )
    access_key_id: SecretStr | None = Field(
        default=None, description="for s3://: access key (a secret)"
    )
    secret_access_key: SecretStr | None = Field(
        default=None, description="for s3://: secret key (a secret)"
    )
    session_token: SecretStr | None = Field(
        default=None, description="for s3://: token of temporary keys (a secret)"
    )
    profile: str | None = Field(
        default=None, description="for s3://: profile of the AWS tools; needs lakebed[aws]"
    )
    azure_account: str = Field(default="", description="for az://: storage account")
    azure_account_key: SecretStr | None = Field(
        default=None, description="for az://: key of the account (a secret)"
    )
    azure_sas_token: SecretStr | None = Field(
        default=None, description="for az://: shared access signature (a secret)"
    )
    azure_endpoint: str = Field(
        default="", description="for az://: address of the account, if it is not Azure's own"
    )
    google_key_file: str = Field(
        default="", description="for gs://: file with the key of a service account"
    )

    @field_validator("endpoint", "azure_endpoint")
    @classmethod
    def _is_address(cls, address: str | None) -> str | None:
        return web_address(address) if address else address
