"""Load flows of every form and make them ready to be run."""
