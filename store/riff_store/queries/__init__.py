"""Questions that a store answers: one module each, frozen values out, nothing of the database's.

Every question takes the part of a filter that is about calls. Import a question from its own
module: a dump asks one of them and loads no other.
"""

from riff_store import packages as packages
