"""Datasets over time: indices built later, copies, garbage, deletion and statistics."""
