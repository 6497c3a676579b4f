"""How commands print: tables, bars, words."""
