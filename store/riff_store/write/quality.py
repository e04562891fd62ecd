"""Score single calls: operability of a call's own aspects and its judges (docs/metrics.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from riff_store.engines.engine import Connection
from riff_store.schema import COMPUTED_JUDGE
from riff_store.scoring import PARTS, Blend, blended, computed_blend, median

_HUMANNESS = "humanness"
_AT_ONCE = 500
MOST_BLENDS = 8192
"""Of so many new calls a batch keeps at hand what is computed; of the others the store is asked, if they are judged."""


def blend_of(aspects: Mapping[str, float | None]) -> Blend | None:
    """Return what the quality of a call is by its computed aspects alone, `None` without correctness."""
    return computed_blend(*[aspects.get(part) for part in PARTS])


def settle_all(connection: Connection) -> None:
    """Score every call again, with judges and without."""
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
        connection.executemany(
            "UPDATE conversation SET computed_quality = ? WHERE id = ?",
            [(_quality([parts[key].get(keys.get(part, 0)) for part in PARTS], []), key) for key in calls],
        )


def settle_new(
    connection: Connection, scores: Mapping[tuple[int, int, int], float | None], blends: Mapping[int, Blend | None]
) -> None:
    """Score new calls by all the verdicts on them, given by call, aspect and judge, and by what is computed of them.

    They are in the store already, for what is not in `blends`.
    """
    humanness = connection.execute("SELECT id FROM aspect WHERE name = ?", (_HUMANNESS,)).fetchone()
    judged: dict[int, list[float]] = {}
    for (call, aspect, judge), score in scores.items():
        if (aspect,) == humanness and judge != COMPUTED_JUDGE and score is not None:
            judged.setdefault(call, []).append(score)
    connection.executemany(
        "UPDATE conversation SET quality = ? WHERE id = ?",
        [(blended(blend, median(judged[call])), call) for call in judged if (blend := blends.get(call)) is not None],
    )
    settle_quality(connection, judged.keys() - blends.keys())


def settle_quality(connection: Connection, calls: Iterable[int]) -> None:
    """Score calls again from what the store has of them, verdicts included."""
    aspects = dict(connection.execute("SELECT name, id FROM aspect").fetchall())
    computed = ", ".join(
        "(SELECT value FROM aspect_score WHERE conversation_id = c.id"
        f" AND aspect_id = {aspects.get(part, 0)} AND judge_id = {COMPUTED_JUDGE})"
        for part in PARTS
    )
    keys = sorted(calls)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        judged: dict[int, list[float]] = {}
        scores = connection.execute(
            f"SELECT conversation_id, value FROM aspect_score WHERE conversation_id IN ({_marks(some)})"
            f" AND aspect_id = ? AND judge_id <> {COMPUTED_JUDGE} AND value IS NOT NULL",
            (*some, aspects.get(_HUMANNESS, 0)),
        ).fetchall()
        for call, score in scores:
            judged.setdefault(call, []).append(score)
        parts = connection.execute(f"SELECT c.id, {computed} FROM conversation c WHERE c.id IN ({_marks(some)})", some)
        connection.executemany(
            "UPDATE conversation SET quality = ? WHERE id = ?",
            [(_quality(values, judged.get(call, [])), call) for call, *values in parts.fetchall()],
        )


def _quality(parts: list[float | None], judged: list[float]) -> float | None:
    blend = computed_blend(*parts)
    return None if blend is None else blended(blend, median(judged))


def _marks(values: Iterable[int]) -> str:
    return ", ".join("?" for _ in values)
