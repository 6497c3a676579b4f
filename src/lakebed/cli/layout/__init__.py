"""Commands about layouts of tables."""
