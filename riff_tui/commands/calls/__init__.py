"""The commands that make calls, judge them and play them again."""
