"""Tracebacks of functions on Spark's workers."""

from lakebed.errors import worker_traceback

SAID = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "<shop/pipelines/silver/a/pipeline.py>", line 4, in price
  File "/site-packages/pandas/core/series.py", line 47, in map
    new_values = self._map_values(arg)
                 ^^^^^^^^^^^^^^^^^^^^^
ValueError: no price
for 7
"""
OF_OLDER_SPARK = """Job aborted due to stage failure: Task 0 in stage 1.0 failed: \
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1830, in main
    process()
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1822, in process
    serializer.dump_stream(func(split_index, iterator), outfile)
  File "<shop/pipelines/silver/a/pipeline.py>", line 4, in price
KeyError: 'x'

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
Driver stacktrace:
"""


def test_the_exception_its_frames_and_the_pipelines_line_are_found() -> None:
    told = worker_traceback(SAID)
    assert told
    assert told.raised == "ValueError: no price"
    assert told.text == SAID[SAID.index("Traceback") :].rstrip()
    assert told.where == "shop/pipelines/silver/a/pipeline.py:4"


def test_frames_of_pyspark_above_the_users_and_java_below_are_left_out() -> None:
    told = worker_traceback(OF_OLDER_SPARK)
    assert told
    assert told.text.splitlines()[1:] == [
        '  File "<shop/pipelines/silver/a/pipeline.py>", line 4, in price',
        "KeyError: 'x'",
    ]


def test_a_fault_in_pyspark_itself_keeps_its_innermost_frame() -> None:
    told = worker_traceback(
        OF_OLDER_SPARK.replace(
            '  File "<shop/pipelines/silver/a/pipeline.py>", line 4, in price\n', ""
        )
    )
    assert told
    assert (told.raised, told.where) == ("KeyError: 'x'", "")
    assert "line 1822, in process" in told.text
    assert "line 1830" not in told.text


def test_of_a_long_traceback_the_end_is_told_and_a_long_message_hides_no_frame() -> None:
    deep = SAID.replace(
        '  File "/site', '  File "deep.py", line 1, in again\n' * 1000 + '  File "/site', 1
    )
    told = worker_traceback(deep.replace("no price", "no price" * 10_000))
    assert told
    assert len(told.what) < 4000
    assert told.text.startswith("…\n  File")
    assert 'series.py", line 47, in map' in told.text
    assert told.text.endswith("for 7")
    assert told.where.endswith("pipeline.py:4")


def test_other_messages_have_no_traceback() -> None:
    assert worker_traceback("[DIVIDE_BY_ZERO] Division by zero.") is None
