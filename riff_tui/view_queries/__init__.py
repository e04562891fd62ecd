"""Ask the store for views: one way for all of them, and a function for each that needs more."""
