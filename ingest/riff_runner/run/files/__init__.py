"""Keep a run in the files of its directory."""
