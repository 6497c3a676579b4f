"""Followers as JSON-ready values."""

from typing import TYPE_CHECKING, Any

from lakebed.presentation.values import fields_of

if TYPE_CHECKING:
    from lakebed.tables.following.followers import FollowerSummary


def follower_json(follower: "FollowerSummary") -> dict[str, Any]:
    """A follower, how far it is, and how much it protects."""
    return fields_of(follower)
