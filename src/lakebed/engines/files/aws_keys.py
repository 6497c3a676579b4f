"""Who Lakebed is to a bucket: the keys of the settings, or else of AWS's variables, or else of a
profile or the machine's own role, which boto3 finds as the AWS tools do.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pydantic import SecretStr

from lakebed.engines.files.s3_signing import AwsKeys
from lakebed.errors import FilesRefused, MissingExtra
from lakebed.settings import FilesSettings

if TYPE_CHECKING:
    from obstore.auth.boto3 import Boto3CredentialProvider
    from obstore.store import S3Credential

KeySource = Callable[[], AwsKeys]


def key_source(
    files: FilesSettings, environment: Mapping[str, str] = os.environ
) -> KeySource | None:
    """Where keys come from now and later; None if only obstore can find those of the machine."""
    fixed = fixed_keys(files, environment)
    if fixed:
        return lambda: fixed
    if find_spec("boto3"):
        return found_keys(files.profile)
    if files.profile:
        raise MissingExtra("aws", f"files.profile ({files.profile})")
    return None


def fixed_keys(files: FilesSettings, environment: Mapping[str, str] = os.environ) -> AwsKeys | None:
    """The keys of the settings, or else of AWS's variables, if there are any."""
    if files.access_key_id and files.secret_access_key:
        return AwsKeys(
            files.access_key_id.get_secret_value(),
            files.secret_access_key.get_secret_value(),
            files.session_token.get_secret_value() if files.session_token else "",
        )
    key = environment.get("AWS_ACCESS_KEY_ID", "")
    secret = environment.get("AWS_SECRET_ACCESS_KEY", "")
    token = environment.get("AWS_SESSION_TOKEN", "")
    return AwsKeys(key, secret, token) if key and secret else None


def with_profile_keys(files: FilesSettings) -> FilesSettings:
    """The settings with the keys of their profile as of now, for engines that cannot read
    profiles.
    """
    source = key_source(files) if files.profile and not fixed_keys(files) else None
    if source is None:
        return files
    keys = source()
    return files.model_copy(
        update={
            "access_key_id": SecretStr(keys.access_key_id),
            "secret_access_key": SecretStr(keys.secret_access_key),
            "session_token": SecretStr(keys.token) if keys.token else None,
        }
    )


class NoKeys(Exception):
    """Why boto3 finds no keys, in the words that obstore repeats."""


class FoundKeys:
    """Keys that boto3 finds, and renews before they expire."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    def __call__(self) -> AwsKeys:
        try:
            found = self.credential()
        except NoKeys as error:
            raise FilesRefused(self._shown, str(error)) from error
        return AwsKeys(
            found["access_key_id"], found["secret_access_key"] or "", found.get("token") or ""
        )

    def credential(self) -> "S3Credential":
        """As obstore asks for them."""
        from botocore.exceptions import BotoCoreError

        try:
            return self._provider()
        except BotoCoreError as error:  # no such profile, a login that has expired …
            raise NoKeys(f"{error}.") from error

    @cached_property
    def _provider(self) -> "Boto3CredentialProvider":
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider

        try:
            return Boto3CredentialProvider(boto3.Session(profile_name=self._profile or None))
        except ValueError:  # obstore's word for none
            raise NoKeys("there are no keys: neither variables, a profile nor a role.") from None

    @property
    def _shown(self) -> str:
        return f"AWS profile {self._profile}" if self._profile else "AWS credentials"


@cache
def found_keys(profile: str) -> FoundKeys:
    """One source a profile, so that a login is asked for once in a process."""
    return FoundKeys(profile)
