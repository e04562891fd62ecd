"""Find out where a run stands, from the files of its directory."""
