"""End what programs of others leave running, also where this process is killed."""
