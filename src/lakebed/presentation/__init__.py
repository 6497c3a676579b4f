"""Results and errors as plain JSON-ready values, one file a noun: for `--json`, and for HTTP and
pages later.
"""
