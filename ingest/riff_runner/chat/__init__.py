"""Ask models behind endpoints that speak the chat completions of OpenAI."""
