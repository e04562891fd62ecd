"""Read and write filters, in the one grammar of `--where` and of the `/` prompt.

    expression   all-of { "|" all-of }          alternatives
    all-of       one { blank one }              all of them apply
    one          "!" one | "(" expression ")" | term
    term         [ field operator ] value | [ field ":" ] "/" regular expression "/" [ "i" ]
    operator     ":" contains (case ignored)  "="  "!="  "<"  "<="  ">"  ">="
    value        a word, or text in single or double quotes; `·` or `none` unquoted: not measured

A term without a field looks through the name columns. Parentheses keep terms about states
together: `(state=triage stall=1)` is a call that stalled in triage.
"""

from __future__ import annotations

from riff_tui.filters.filter import Filter, quote, render, split, take_judges, take_scores

__all__ = ["Filter", "quote", "render", "split", "take_judges", "take_scores"]
