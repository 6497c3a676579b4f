"""The files that tables reach, whether they are intact, and relocating tables of a lake that was
moved.
"""
