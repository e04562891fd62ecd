"""Find out where a run is, from the files of its directory."""
