"""Keep the facts of evaluated calls in one SQLite file and answer questions about them."""
