"""One frozen `Settings`, read once from `lakebed.yaml` and the environment."""

from lakebed.settings.care import SAFE_DAYS, CareSettings, TableCare, effective_care
from lakebed.settings.catalog import CatalogSettings, PostgresCatalog, RestCatalog, SqliteCatalog
from lakebed.settings.document import Document
from lakebed.settings.kartothek import KartothekSettings
from lakebed.settings.layouts import LayoutSettings
from lakebed.settings.load import (
    OTHER_VARIABLES,
    environment_variables,
    files_settings,
    kartothek_settings,
    load_settings,
    secret_settings,
    setting_fields,
    settings_tree,
    without_secrets,
)
from lakebed.settings.places import (
    DATA,
    DATABASE_FILE,
    IN_BUCKET,
    cache_folder,
    logs_folder,
    make_log,
    staging_place,
)
from lakebed.settings.query import QuerySettings
from lakebed.settings.refusals import first_error, reason, unknown_name
from lakebed.settings.root import SETTINGS_FILE, Root, find_root, normalized_location
from lakebed.settings.secrecy import MASK, SECRET_WORD, masked
from lakebed.settings.spec import (
    AssetSettings,
    FilesSettings,
    LeaseSettings,
    PlacesSettings,
    ReleaseSettings,
    ScopedSettings,
    Settings,
    SparkSettings,
    WriteSettings,
    java_size,
)
from lakebed.settings.worker import WorkerSettings, wants_worker
from lakebed.settings.yaml_text import LARGEST, read_yaml

__all__ = [
    "DATA",
    "DATABASE_FILE",
    "IN_BUCKET",
    "LARGEST",
    "MASK",
    "OTHER_VARIABLES",
    "SAFE_DAYS",
    "SECRET_WORD",
    "SETTINGS_FILE",
    "AssetSettings",
    "CareSettings",
    "CatalogSettings",
    "Document",
    "FilesSettings",
    "KartothekSettings",
    "LayoutSettings",
    "LeaseSettings",
    "PlacesSettings",
    "PostgresCatalog",
    "QuerySettings",
    "ReleaseSettings",
    "RestCatalog",
    "Root",
    "ScopedSettings",
    "Settings",
    "SparkSettings",
    "SqliteCatalog",
    "TableCare",
    "WorkerSettings",
    "WriteSettings",
    "cache_folder",
    "effective_care",
    "environment_variables",
    "files_settings",
    "find_root",
    "first_error",
    "java_size",
    "kartothek_settings",
    "load_settings",
    "logs_folder",
    "make_log",
    "masked",
    "normalized_location",
    "read_yaml",
    "reason",
    "secret_settings",
    "setting_fields",
    "settings_tree",
    "staging_place",
    "unknown_name",
    "wants_worker",
    "without_secrets",
]
