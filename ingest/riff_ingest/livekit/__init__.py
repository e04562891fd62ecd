"""Read the session reports of LiveKit Agents (docs/formats.md, section 8)."""
