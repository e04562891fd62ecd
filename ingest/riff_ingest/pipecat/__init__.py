"""Read what pipecat's evals leave behind (docs/formats.md, section 9)."""
