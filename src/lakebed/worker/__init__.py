"""The worker: a process that keeps Spark warm and runs commands for their callers.

Three kinds of processes. The first one (`serve`) answers the socket; it has one thread, has loaded
everything that commands need, and forks. A child of it (`keep`) starts Spark's JVM and lends it.
For every command another child (`become`) takes the place of the caller's process: with its
terminal, folder, environment and arguments.
"""
