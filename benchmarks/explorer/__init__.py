"""The explorer on a terminal of 80 × 24: what each of its keys waits for, as calls accumulate."""
