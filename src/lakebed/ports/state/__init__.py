"""What Lakebed itself stores."""
