"""Imports what pyspark needs for its first call; imported by processes that do this in advance."""

import pyspark.sql.classic.dataframe
import pyspark.sql.pandas.map_ops
import pyspark.testing.utils  # noqa: F401  imports pandas and pyarrow
