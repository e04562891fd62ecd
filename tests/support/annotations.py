"""Lines that people write on calls, for hypothesis to draw and for tests to spell."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from tests.surface.store import Annotation

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(lambda text: text.strip())
_TIME = st.datetimes(timezones=st.just(UTC)).map(lambda moment: (moment - _EPOCH) // (_EPOCH.resolution))
_ID = st.sampled_from("abcdef")

ANY_NOTE = st.builds(
    Annotation,
    id=_TEXT,
    conversation=_TEXT,
    author=_TEXT,
    run=st.none() | _TEXT,
    flow=st.none() | _TEXT,
    agent=st.none() | _TEXT,
    trial=st.none() | st.integers(0, 2**63 - 1),
    turn=st.none() | st.integers(1, 2**63 - 1),
    state=st.none() | _TEXT,
    verdict=st.sampled_from([None, "pass", "fail"]),
    code=st.none() | _TEXT,
    note=st.none() | _TEXT,
    labels=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=3),
    at=st.none() | _TIME,
    supersedes=st.none() | _TEXT,
    deleted=st.booleans(),
    editor=st.none() | _TEXT,
)
"""Any note that a line can hold."""

ENTANGLED = st.lists(
    st.builds(
        Annotation,
        id=_ID,
        conversation=st.sampled_from(["c-1", "c-2"]),
        author=st.sampled_from(["ann", "bob"]),
        verdict=st.sampled_from([None, "pass", "fail"]),
        code=st.sampled_from([None, "loop", "wrong tool"]),
        note=st.sampled_from([None, "why"]),
        at=st.sampled_from([None, 1, 2, 3]),
        supersedes=st.none() | _ID | st.just("never seen"),
        deleted=st.booleans(),
    ),
    max_size=8,
)
"""Lines of few ids, so that they repeat and supersede one another and themselves, also in circles."""
