"""Serve the explorer to a browser on this machine, one process for each tab (docs/serve.md)."""
