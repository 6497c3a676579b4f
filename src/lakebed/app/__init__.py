"""Wiring: settings, engines and stages joined into a `Lake`."""

from lakebed.app.create import create_lake
from lakebed.app.doctor import Finding, examine
from lakebed.app.lake import Lake, open_lake

__all__ = ["Finding", "Lake", "create_lake", "examine", "open_lake"]
