"""Hold the answers of the queries: frozen values, never rows of the database.

A `Measure` carries its n and its interval. `None` is not measured. Import an answer from its own
module: a dump loads those that it prints.
"""
