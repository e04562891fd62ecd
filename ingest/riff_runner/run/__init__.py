"""Run agents against flows: a caller, an agent and the flow between them, recorded as transcripts."""
