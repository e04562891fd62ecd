"""Ask judges how human an agent sounded, call by call, and keep what they say as humanness scores."""
