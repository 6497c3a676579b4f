"""The functions of DuckDB that untrusted SQL may call: they compute from their arguments and do
nothing else.

Left out on purpose: whatever reads files (`read_*`, `glob`, `parquet_*`), runs text as SQL
(`query`, `json_execute_serialized_sql`), reveals the process (`getenv`, `current_setting`,
`duckdb_*`, `pragma_*`, `which_secret`), writes (`write_log`, `nextval`), waits (`sleep_ms`), or
inspects DuckDB itself (`stats`, `current_query`, `duckdb_logs`).
"""

_AGGREGATES = """
any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min
arg_min_null argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr
count count_if count_star countif covar_pop covar_samp entropy favg first fsum geomean
geometric_mean group_concat histogram histogram_exact kahan_sum kurtosis kurtosis_pop last list
listagg mad max max_by mean median min min_by mode product quantile quantile_cont quantile_disc
regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum sum_no_overflow
sumkahan var_pop var_samp variance wavg weighted_avg grouping grouping_id
"""
_WINDOWS = (
    "cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank"
    " rank_dense row_number"
)
_NUMBERS = """
abs acos acosh add asin asinh atan atan2 atanh bin bit_count cbrt ceil ceiling cos cosh cot degrees
divide even exp factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor hex isfinite
isinf isnan lcm least least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow
power radians random round round_even roundbankers set_bit get_bit bit_position bitstring sign
signbit sin sinh sqrt subtract tan tanh to_base to_binary to_hex trunc xor equi_width_bins
"""
_TEXT = """
array_to_string array_to_string_comma_default ascii bar base64 bit_length char_length
character_length chr concat concat_ws contains damerau_levenshtein decode editdist3 encode ends_with
format format_bytes from_base64 from_binary from_hex hamming ilike_escape instr jaccard
jaro_similarity jaro_winkler_similarity lcase left left_grapheme len length length_grapheme
levenshtein like_escape lower lpad ltrim md5 md5_number md5_number_lower md5_number_upper mismatches
nfc_normalize not_ilike_escape not_like_escape octet_length ord parse_dirname parse_dirpath
parse_filename parse_formatted_bytes parse_path position prefix printf regexp_escape regexp_extract
regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
regexp_split_to_table repeat replace reverse right right_grapheme rpad rtrim sha1 sha256 split
split_part starts_with str_split str_split_regex string_split string_split_regex string_to_array
strip_accents strlen strpos substr substring substring_grapheme suffix to_base64 translate trim
ucase unbin unhex unicode upper url_decode url_encode hash
"""
_TIMES = """
age ago century current_date current_localtime current_localtimestamp current_time current_timestamp
date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname
dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era extract
get_current_time get_current_timestamp hour isodow isoyear julian last_day localtime localtimestamp
make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond
millennium millisecond minute month monthname nanosecond normalized_interval now quarter second
strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries to_days to_decades
to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
to_timestamp to_weeks to_years today transaction_timestamp try_strptime week weekday weekofyear year
yearweek
"""
_LISTS = """
aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat
array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance
array_distinct array_dot_product array_extract array_filter array_grade_up array_has array_has_all
array_has_any array_indexof array_inner_product array_intersect array_length
array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front
array_position array_prepend array_push_back array_push_front array_reduce array_resize
array_reverse array_reverse_sort array_select array_slice array_sort array_transform array_unique
array_value array_where array_zip cardinality element_at filter flatten generate_series
generate_subscripts grade_up list_aggr list_aggregate list_any_value list_append list_apply
list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or
list_cat list_concat list_contains list_cosine_distance list_cosine_similarity list_count
list_distance list_distinct list_dot_product list_element list_entropy list_extract list_filter
list_first list_grade_up list_has list_has_all list_has_any list_histogram list_indexof
list_inner_product list_intersect list_kurtosis list_kurtosis_pop list_last list_mad list_max
list_median list_min list_mode list_negative_dot_product list_negative_inner_product list_pack
list_position list_prepend list_product list_reduce list_resize list_reverse list_reverse_sort
list_select list_sem list_skewness list_slice list_sort list_stddev_pop list_stddev_samp
list_string_agg list_sum list_transform list_unique list_value list_var_pop list_var_samp list_where
list_zip range reduce unnest unpivot_list
"""
_NESTED = """
map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
map_extract_value map_from_entries map_keys map_values row struct_concat struct_contains
struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack
struct_position struct_update struct_values union_extract union_tag union_value array_to_json
from_json from_json_strict json json_array json_array_length json_contains json_each json_exists
json_extract json_extract_path json_extract_path_text json_extract_string json_group_array
json_group_object json_group_structure json_keys json_merge_patch json_object json_pretty json_quote
json_structure json_transform json_transform_strict json_tree json_type json_valid json_value
row_to_json to_json
"""
_OTHERS = """
alias cast coalesce columns error exists gen_random_uuid if ifnull iff is_histogram_other_bin nullif
try try_cast typeof uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
"""

_FILE_READERS = """
glob parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan
parquet_schema read_avro read_blob read_csv read_csv_auto read_json read_json_auto read_json_objects
read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text
sniff_csv
"""

ALLOWED = frozenset(
    " ".join((_AGGREGATES, _WINDOWS, _NUMBERS, _TEXT, _TIMES, _LISTS, _NESTED, _OTHERS)).split()
)
# Those that may be used as tables; all others in that place read something.
TABLE_FUNCTIONS = frozenset(
    {
        "range",
        "generate_series",
        "unnest",
        "repeat",
        "json_each",
        "json_tree",
        "regexp_split_to_table",
    }
)
# Those that read the files they name, and nothing else.
FILE_READERS = frozenset(_FILE_READERS.split())
# Those that read or describe the tables that their first argument names.
DESCRIBERS = frozenset({"pragma_show", "pragma_table_info"})
NAME_READERS = frozenset({"histogram", "histogram_values", "query_table"}) | DESCRIBERS
# Those that inspect tables that DuckDB stores, which the lake's are not.
STORAGE = frozenset(
    {"duckdb_table_sample", "pragma_metadata_info", "pragma_storage_info", "seq_scan"}
)
# Those that change something or run unchecked SQL, with what to do instead. No query may call them.
WRITING = {
    **dict.fromkeys(
        (
            "checkpoint",
            "disable_logging",
            "disable_profiling",
            "enable_logging",
            "enable_profiling",
        ),
        "",
    ),
    **dict.fromkeys(
        ("force_checkpoint", "iceberg_to_ducklake", "truncate_duckdb_logs", "write_log"), ""
    ),
    **dict.fromkeys(("remove_iceberg_schema_properties", "remove_iceberg_table_properties"), ""),
    **dict.fromkeys(("set_iceberg_schema_properties", "set_iceberg_table_properties"), ""),
    **dict.fromkeys(
        ("json_execute_serialized_sql", "query"), "Write what it would run as a subquery."
    ),
}
# The operators, as DuckDB's parser names them.
OPERATORS = frozenset(
    {
        "+", "-", "*", "/", "//", "%", "**", "^", "&", "|", "<<", ">>", "~", "!", "!__postfix",
        "||", "@", "->", "->>", "~~", "!~~", "~~*", "!~~*", "~~~", "^@", "@>", "<@", "&&", "<->",
        "<=>", "<#>", "!~", "~*", "!~*", "=", "<>", "<", ">", "<=", ">=",
    }
)  # fmt: skip
