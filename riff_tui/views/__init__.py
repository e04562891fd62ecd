"""Define one module per view: its description, and pure functions from the queries' answers to a `Table`."""
