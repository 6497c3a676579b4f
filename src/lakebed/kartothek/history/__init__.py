"""Former states of a dataset, and commits that other writers undid."""
