"""Reading: from SQL and pinned tables to file lists, and from these to rows.

Importing this imports no engine.
"""
