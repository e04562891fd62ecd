"""Edits of flows, as the history of the git repository that holds their files tells them (formats.md, section 4)."""
