"""Runs: begun, carried out step by step, published and, where they fail, written down as failed."""
