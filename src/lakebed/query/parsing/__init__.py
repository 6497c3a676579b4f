"""The text of a query: its parse tree, its tables and the conditions on their rows."""
