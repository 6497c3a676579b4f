"""plateau's own suites run in an environment of their own: see test_plateau.py."""

collect_ignore = ["plateau"]
