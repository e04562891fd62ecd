"""Walk from a weak flow to the state that broke it and to the calls that prove it."""

__version__ = "1.0.0"
