"""Following tables: events wake a follower, the comparison with the catalog decides."""
