"""The client of the worker: finding one, starting one, borrowing its Spark, handing it a command.

Nothing on the way of `handover` imports more than Python's own library: a command that a worker
runs must start at once.
"""
