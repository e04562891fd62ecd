"""Read what voice-agent evaluations leave behind and turn it into scored facts."""
