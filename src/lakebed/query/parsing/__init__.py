"""What a query says: its parse tree, its tables and the conditions on their rows."""
