"""Backups of a lake's catalog and state, and restoring them."""

from lakebed.care.backup.backup import WITHOUT, BackupReport, back_up
from lakebed.care.backup.restore import RestoreReport, restore_backup
from lakebed.care.backup.services import BackupServices

__all__ = [
    "WITHOUT",
    "BackupReport",
    "BackupServices",
    "RestoreReport",
    "back_up",
    "restore_backup",
]
