"""Make cases of stored calls: what broke yesterday is what the next agent is tried on."""
