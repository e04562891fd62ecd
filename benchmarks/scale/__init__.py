"""Every view and every kind of filter as calls accumulate, beside DuckDB asked the same of the same rows."""
