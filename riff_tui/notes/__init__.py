"""Write what people note on calls, wherever it can be kept."""
