"""The keys with which Lakebed itself signs requests."""

import os
from collections.abc import Callable, Mapping

from lakebed.engines.files.s3_signing import AwsKeys
from lakebed.settings import FilesSettings


def own_keys(
    settings: FilesSettings, environment: Mapping[str, str] = os.environ
) -> Callable[[], AwsKeys] | None:
    """The keys of the settings, or else of AWS's variables; None if there are none."""
    if settings.access_key_id and settings.secret_access_key:
        key = settings.access_key_id.get_secret_value()
        secret = settings.secret_access_key.get_secret_value()
        token = ""
    else:
        key = environment.get("AWS_ACCESS_KEY_ID", "")
        secret = environment.get("AWS_SECRET_ACCESS_KEY", "")
        token = environment.get("AWS_SESSION_TOKEN", "")
    if not (key and secret):
        return None
    return lambda: AwsKeys(key, secret, token)
