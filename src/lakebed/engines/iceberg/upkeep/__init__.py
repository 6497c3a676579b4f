"""Which files tables reach, whether they are whole, and tables of a lake that was moved."""
