"""Runs: started, carried out step by step, published, and recorded as failed if they fail."""
