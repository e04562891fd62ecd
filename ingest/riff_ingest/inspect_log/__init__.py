"""Turn logs of Inspect AI into conversations and verdicts (docs/formats.md, Logs of Inspect AI)."""
