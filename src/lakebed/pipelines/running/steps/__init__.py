"""The steps of a run, carried out through ports."""
