"""Filters of every kind about the stores of `random_stores`."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.surface.store import And, Not, Or, Predicate, Term

texts = st.sampled_from(
    ["dent", "DENTAL", "straße", "%", "_", "50%_\\", "'", "über", "本", "night-2", "c-0", "É", "1", ""]
)
patterns = st.sampled_from(["^d", "(?i)^D", "[0-9]$", "ü|Ü", "-0[12]", "x_%"])
exact = st.sampled_from(
    ["dental", "scripted", "gemini", "o'brien", "hurried", "night-1", "s1", "terminal", "booking", "codex",
     "find", "book/now", "collect/find", "greet/book/now", "(none found)/user:pay"]
)  # fmt: skip
name_fields = st.sampled_from(
    [
        "run",
        "conversation",
        "flow",
        "agent",
        "persona",
        "scenario",
        "caller",
        "archetype",
        "stop_reason",
        "final_state",
        "judge",
        "tool",
        "tool_error",
    ]
)
call_numbers = st.sampled_from(
    ["correctness", "completion", "latency_p95", "trial", "duration_s", "error_count",
     "humanness", "humanness.codex", "humanness.gemini", "humanness.gemini#b7", "humanness.nobody"]
)  # fmt: skip
state_numbers = st.sampled_from(["progress", "stall", "revisit", "dwell_turns", "guard_error", "slot_fill_rate"])
numbers = st.sampled_from([0.0, 0.3, 0.5, 1.0, 1 / 3, 2.0, 4.2, 5.5, 10.0])
said_fields = st.sampled_from(["said", "agent_said", "caller_said"])
spoken = st.sampled_from(
    ["STRASSE", "straße", "ß", "İ", "i̇stanbul", "ı", "日本", "で お", "ולם", '"NO"', "\\", "S\nlin", "\x01", "\t", "k",
     "K", "ſO", "so", "dental", "É", "e", "%_", "/", "l", ""]
)  # fmt: skip
spoken_patterns = st.sampled_from(
    ["^d", "(?i)^D", "(?i)k", "ü|É", "a.*l$", r"(e|s)+\W", "n[oe]s?", "x{0}é", "本語+", r"\\s", "(wo)?d"]
)
orders = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
known = st.sampled_from(["missing", "measured"])
terms = st.one_of(
    st.builds(Term, st.none() | name_fields, st.just("contains"), texts),
    st.builds(Term, st.none() | name_fields, st.just("matches"), patterns),
    st.builds(Term, name_fields, st.sampled_from(["=", "!="]), exact),
    st.builds(
        Term,
        st.just("state") | st.just("segment"),
        st.sampled_from(["=", "!=", "contains"]),
        st.sampled_from(["greet", "collect", "co"]),
    ),
    st.builds(Term, said_fields, st.sampled_from(["contains", "=", "!="]), spoken),
    st.builds(Term, said_fields, st.just("matches"), spoken_patterns),
    st.builds(Term, call_numbers | state_numbers, orders, numbers),
    st.builds(
        Term,
        name_fields
        | said_fields
        | call_numbers
        | state_numbers
        | st.sampled_from(["completed", "caller_ok", "started_at"]),
        known,
    ),
    st.builds(
        Term,
        st.sampled_from(["completed", "errored", "caller_ok"]),
        st.sampled_from(["=", "!="]),
        st.sampled_from([0.0, 1.0]),
    ),
    st.builds(
        Term, st.just("started_at"), orders, st.sampled_from(["2026", "2026-06", "2026-06-21", "2026-06-22T00:00"])
    ),
)
predicates: st.SearchStrategy[Predicate] = st.recursive(
    terms,
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(And, st.lists(parts, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(parts, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)
