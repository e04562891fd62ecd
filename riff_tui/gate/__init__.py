"""Whether a candidate may take a baseline's place: what is allowed, what is decided, and reports of it."""
