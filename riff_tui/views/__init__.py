"""One module per view: pure functions from the queries' answers to a `Table`."""
