"""Play the callers of a run: by the case alone, by a model, or as one called before."""
