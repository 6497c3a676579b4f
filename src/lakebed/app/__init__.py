"""Wiring: settings, engines and stages joined into a `Lake`."""

from lakebed.app.create import create_lake
from lakebed.app.doctor import DoctorFinding, examine
from lakebed.app.kartothek import open_datasets
from lakebed.app.lake import Lake
from lakebed.app.opening import open_lake

__all__ = ["DoctorFinding", "Lake", "create_lake", "examine", "open_datasets", "open_lake"]
