"""Share what readers of calls have in common that a platform for voice agents held (Retell, Vapi, LiveKit)."""
