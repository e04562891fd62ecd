"""Keep facts of calls once more, packed by column, and answer from them what looks at very many calls.

Rows stay the truth: what is packed follows from them, and what is not packed is read from them.
"""
