"""Ratios of what riff-tui does against a floor or a peer, measured in one run."""
