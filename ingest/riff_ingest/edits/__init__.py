"""Read the edits of flows from the git history of their files (docs/formats.md, section 4)."""
