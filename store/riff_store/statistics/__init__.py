"""Test, bound and correct, as pure functions of numbers.

numpy takes a tenth of a second to load, so it is imported inside the functions that need it and nothing that
merely prints or opens a screen waits for it. No answer depends on the order of the values.
"""
