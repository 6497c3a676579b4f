"""Lakes, zones and tables that tests work on."""
