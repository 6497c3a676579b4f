"""Random walks through everything that may happen to a lake over time and in other places."""
