"""Fuzz what people and models type: filters, links, verdicts, notes that are merged, what a session left."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from tests.support.fuzzing.target import Target, check_plain, check_reason
from tests.surface.explorer import Unreadable, address_of, decoded, encoded, link_to, open_link
from tests.surface.ingest import BrokenInput, line_of
from tests.surface.ingest import annotations_read_line as read_line
from tests.surface.runner import LONGEST_REASON, Malformed
from tests.surface.runner import parse as parse_verdict
from tests.surface.store import Annotation, UsageError, counted, merged, standing
from tests.surface.tui import FilterError, bounds, limits, load, parse, views, wanted
from tests.surface.tui import filters_render as render

_FILTERS = (
    b"flow:dent agent=gemini stall>0.3 | !run:nightly",
    b"(state=triage stall=1) /no[a-z]+ slot/i slot_fill_rate=\xc2\xb7",
    b'humanness:acme>=7.5 started>=2026-06-22 \'two words\' escalation!=none persona:"x\\"y"',
)
_SHOWN = range(1, 6)


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def _filter(data: bytes, folder: Path) -> None:
    """A filter is refused at a place in it, or written out again it means the same."""
    text = _text(data)
    with contextlib.suppress(UnicodeEncodeError):
        wanted(text, len(text) // 2)
    try:
        predicate = parse(text)
    except FilterError as error:
        check_reason(str(error).encode(errors="replace").decode())
        if not 0 <= error.position <= len(text):
            raise AssertionError("a filter is refused outside of it") from error
        return
    spelled = render(predicate)
    assert parse(spelled) == predicate, f"{spelled!r} means something else"


def _link(data: bytes, folder: Path) -> None:
    """The first byte names the view; the link to where a link leads leads there again."""
    specs = sorted(spec.name for spec in views())
    view, _, rest = specs[(data[0] if data else 0) % len(specs)], b"", data[1:]
    where, _, at = rest.partition(b"\0")
    try:
        stack = open_link(view, _text(where), at=_text(at))
    except FilterError as error:
        check_reason(str(error).encode(errors="replace").decode())
        return
    check_plain(address_of(stack))
    again = open_link(stack[-1].view, stack[-1].where.text)
    assert link_to(again, "s.db") == link_to(open_link(again[-1].view, again[-1].where.text), "s.db")


def _verdict(data: bytes, folder: Path) -> None:
    try:
        found = parse_verdict(_text(data), _SHOWN)
    except Malformed as error:
        check_reason(str(error))
        return
    assert 0 <= found.score <= 10
    assert found.score != 0 or b"0" in data or b"e-" in data.lower(), "a score of 0 comes out of nowhere"
    assert set(found.evidence) <= set(_SHOWN), "evidence names what was not shown"
    assert found.reason, "a verdict has no reason"
    assert len(found.reason) <= LONGEST_REASON + 1


def _merge(data: bytes, folder: Path) -> None:
    """Notes mean the same in whatever order and however often they come, and are written as they were read."""
    notes: list[Annotation] = []
    for line in data.split(b"\n"):
        try:
            note, defects = read_line(line)
        except BrokenInput as problem:
            check_reason(problem.reason)
            continue
        for reason in defects:
            check_reason(reason)
        assert read_line(line_of(note).encode()) == (note, []), "a note comes back as another"
        notes.append(note)
    assert merged([*reversed(notes), *notes]) == merged(notes)
    assert counted(standing([*reversed(notes), *notes])) == counted(standing(notes))


def _session(data: bytes, folder: Path) -> None:
    try:
        state = decoded(data)
    except Unreadable as error:
        check_reason(str(error))
        return
    written = encoded(state, "s.db")
    assert encoded(decoded(written), "s.db") == written, "a session is kept as another"


def _settings(data: bytes, folder: Path) -> None:
    path = folder / "settings.toml"
    path.write_bytes(data)
    for read in (load, limits, bounds):
        try:
            read({"RIFF_TUI_CONFIG": str(path)})
        except UsageError as error:
            check_reason(str(error).encode(errors="replace").decode())


def _links() -> Sequence[bytes]:
    return [bytes([place]) + each + b"\0turn:7" for place in range(len(list(views()))) for each in _FILTERS[:2]]


def _notes() -> Sequence[bytes]:
    first = Annotation("n-1", "c-1", "ann", verdict="fail", code="wrong day", turn=2, at=1)
    second = Annotation("n-2", "c-1", "ann", verdict="pass", supersedes="n-1", at=2)
    third = Annotation("n-1", "c-1", "ann", deleted=True, at=3)
    return ["\n".join(map(line_of, (first, second, third))).encode()]


def _sessions() -> Sequence[bytes]:
    return [
        b'{"form": 1, "store": "s.db", "kept": {"stack": [{"view": "flows"}, {"view": "segments", "scope": "flow=a"}],'
        b' "sorts": {"flows": "-n"}, "columns": {"flows": ["n"]}, "marks": {"flows": ["a"]}, "filters": ["flow:a"],'
        b' "theme": "dark"}}'
    ]


TARGETS = (
    Target("filter", _filter, lambda: _FILTERS),
    Target("link", _link, _links),
    Target("verdict", _verdict, lambda: [b'{"score": 7, "evidence": [1, 2], "reason": "brisk"}']),
    Target("notes-merge", _merge, _notes),
    Target("session", _session, _sessions),
    Target("settings", _settings, lambda: [b'store = "s.db"\njobs = 2\n[limits]\nline_mib = 128\n[marks]\nbad = 5\n']),
)
