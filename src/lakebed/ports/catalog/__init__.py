"""Tables as a catalog knows them, and what a commit carries."""
