"""Events are numbered by a counter, and followers have the time of their last look."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import counters, followers

MIGRATION = Migration(
    6,
    creates=(counters,),
    adds=(followers.c.at,),
    then=(
        (
            "INSERT INTO lakebed_counters (name, value) SELECT 'events', COALESCE(MAX(number), 0)"
            " FROM (SELECT number FROM lakebed_events UNION ALL"
            " SELECT number FROM lakebed_followers) AS known"
        ),
    ),
)
