"""Changes to a table as a whole: decided here, committed by `Tables`."""
