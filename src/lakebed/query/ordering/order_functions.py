"""Functions by whether their answer may depend on the order of rows, for DuckDB and for Spark.

Every aggregate and window function of both engines is in one list or the other (tested), and so is
every function that gives another value each time. Sums of floats are taken to be the same in any
order, as they are between two runs of the same query.
"""

_BOTH_FREE = """
approx_count_distinct avg bit_and bit_or bit_xor bool_and bool_or corr count count_if covar_pop
covar_samp cume_dist dense_rank grouping grouping_id kurtosis max mean median min percent_rank rank
regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness
stddev stddev_pop stddev_samp sum var_pop var_samp variance
"""
_DUCKDB_FREE = """
bitstring_agg count_star countif entropy favg fsum geomean geometric_mean histogram histogram_exact
kahan_sum kurtosis_pop mad product quantile quantile_cont quantile_disc rank_dense sem
sum_no_overflow sumkahan wavg weighted_avg
"""
_SPARK_FREE = """
any bitmap_and_agg bitmap_construct_agg bitmap_or_agg count_min_sketch every percentile
percentile_cont percentile_disc some std try_avg try_sum
"""
# Which row comes first, how ties are broken, what a sketch of the values looks like.
_BOTH_BOUND = """
any_value approx_top_k array_agg first first_value lag last last_value lead listagg max_by min_by
mode nth_value ntile row_number string_agg
"""
_DUCKDB_BOUND = """
approx_quantile arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
arg_min_nulls_last argmax argmin fill group_concat json_group_array json_group_object
json_group_structure list reservoir_quantile
"""
_SPARK_BOUND = """
approx_percentile approx_top_k_accumulate approx_top_k_combine collect_list collect_set
histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double
kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float
percentile_approx schema_of_variant_agg theta_intersection_agg theta_sketch_agg theta_union_agg
"""
# Another value for each row or each time, or one that tells where the row is stored.
_DUCKDB_CHANCE = """
current_connection_id current_query current_query_id current_transaction_id currval error
gen_random_uuid nextval random setseed sleep_ms stats uuid uuidv4 uuidv7 write_log
"""
_SPARK_CHANCE = """
input_file_block_length input_file_block_start input_file_name java_method
monotonically_increasing_id rand randn random randstr reflect shuffle spark_partition_id uniform
uuid
"""

DUCKDB_ORDER_FREE = frozenset(f"{_BOTH_FREE} {_DUCKDB_FREE}".split())
DUCKDB_ORDER_BOUND = frozenset(f"{_BOTH_BOUND} {_DUCKDB_BOUND} {_DUCKDB_CHANCE}".split())
SPARK_ORDER_FREE = frozenset(f"{_BOTH_FREE} {_SPARK_FREE}".split())
SPARK_ORDER_BOUND = frozenset(f"{_BOTH_BOUND} {_SPARK_BOUND} {_SPARK_CHANCE}".split())
# What these return is settled by an ORDER BY of the values themselves.
SETTLED_BY_ORDER = frozenset(
    {
        "any_value",
        "arbitrary",
        "array_agg",
        "first",
        "group_concat",
        "last",
        "list",
        "listagg",
        "string_agg",
    }
)
# Columns that tell where a row is stored.
DUCKDB_PLACES = frozenset({"file_index", "file_row_number", "filename", "rowid"})
SPARK_PLACES = frozenset(
    {
        "_deleted",
        "_file",
        "_last_updated_sequence_number",
        "_metadata",
        "_partition",
        "_pos",
        "_row_id",
        "_spec_id",
    }
)
