"""Writing datasets: rows become data files first, then one commit makes them visible."""
