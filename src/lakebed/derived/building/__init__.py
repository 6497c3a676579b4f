"""Building layouts: decided before anything is done, carried out batch by batch."""
