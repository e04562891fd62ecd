"""Have agents of every kind take part in calls."""
