"""Keep a module per command; each imports what it runs only when it runs."""
