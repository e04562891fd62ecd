"""Score single calls: operability of a call's own aspects and its judges (docs/metrics.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from riff_store.engines.engine import Connection
from riff_store.models import COMPUTED_JUDGE
from riff_store.scoring import PARTS, blended, computed_blend, median, succeeded

_HUMANNESS = "humanness"
_AT_ONCE = 500


def computed_quality(aspects: Mapping[str, float | None]) -> float | None:
    """Return the quality of a call by its computed aspects alone, `None` without correctness."""
    blend = computed_blend(*[aspects.get(part) for part in PARTS])
    return None if blend is None else blended(blend, None)


def settle_all(connection: Connection) -> None:
    """Score every call anew, with judges and without, and say which were correct and complete."""
    keys = dict(connection.execute("SELECT name, id FROM aspect").fetchall())
    found = connection.execute("SELECT id FROM conversation").fetchall()
    for start in range(0, len(found), _AT_ONCE):
        calls = [key for (key,) in found[start : start + _AT_ONCE]]
        settle_quality(connection, calls)
        rows = connection.execute(
            f"SELECT conversation_id, aspect_id, value FROM aspect_score WHERE judge_id = {COMPUTED_JUDGE}"
            f" AND conversation_id IN ({_marks(calls)})",
            calls,
        )
        parts: dict[int, dict[int, float]] = {key: {} for key in calls}
        for call, aspect, value in rows:
            parts[call][aspect] = value
        named = {key: {part: parts[key].get(keys.get(part, 0)) for part in PARTS} for key in calls}
        connection.executemany(
            "UPDATE conversation SET success = ?, computed_quality = ? WHERE id = ?",
            [
                (succeeded(named[key]["correctness"], named[key]["completion"]), computed_quality(named[key]), key)
                for key in calls
            ],
        )


def settle_quality(connection: Connection, calls: Iterable[int]) -> None:
    """Score calls anew from what the store holds of them, verdicts included."""
    aspects = dict(connection.execute("SELECT name, id FROM aspect").fetchall())
    places = {aspects[part]: place for place, part in enumerate(PARTS) if part in aspects}
    wanted = sorted({*places, *([aspects[_HUMANNESS]] if _HUMANNESS in aspects else [])})
    keys = sorted(calls)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        rows = connection.execute(
            "SELECT conversation_id, aspect_id, judge_id, value FROM aspect_score"
            f" WHERE conversation_id IN ({_marks(some)}) AND aspect_id IN ({_marks(wanted)})",
            (*some, *wanted),
        )
        parts: dict[int, list[float | None]] = {key: [None] * len(PARTS) for key in some}
        judged: dict[int, list[float]] = {key: [] for key in some}
        for call, aspect, judge, value in rows:
            if judge == COMPUTED_JUDGE:
                if aspect in places:
                    parts[call][places[aspect]] = value
            elif aspect not in places and value is not None:
                judged[call].append(value)
        connection.executemany(
            "UPDATE conversation SET quality = ? WHERE id = ?",
            [(_quality(parts[key], judged[key]), key) for key in some],
        )


def _quality(parts: list[float | None], judged: list[float]) -> float | None:
    blend = computed_blend(*parts)
    return None if blend is None else blended(blend, median(judged))


def _marks(values: Iterable[int]) -> str:
    return ", ".join("?" for _ in values)
