"""Where the columns of a query come from."""
