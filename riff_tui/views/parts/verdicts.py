"""Show what each judge said of one call: its version, its score, its reasons and the turns that it named.

Reasons are words of a model about words of a caller, and pass the same gate as these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_tui.text.numbers import fixed
from riff_tui.views.parts import cells

if TYPE_CHECKING:
    from riff_store.answers.calls import Verdict

Words: TypeAlias = Callable[[Any], Any]


def record_of(verdict: Verdict, words: Words) -> dict[str, Any]:
    """Return a verdict as the data formats print it."""
    return {
        "aspect": verdict.aspect,
        "judge": verdict.judge,
        "score": verdict.score,
        "judged_at": cells.moment(verdict.judged_at),
        "model": verdict.model,
        "prompt_hash": verdict.prompt_hash,
        "prompt_version": verdict.prompt_version,
        "evidence": None if verdict.evidence is None else list(verdict.evidence),
        "rationale": words(verdict.rationale),
    }


def lines_of(verdicts: Iterable[Verdict], words: Words, times: Sequence[float | None] = ()) -> list[str]:
    """Return all scores in one line, then a line for each judge that says more of itself or gives its reasons.

    `times` are those of the call's turns in seconds, by which the turns that a judge named are found.
    """
    known = list(verdicts)
    if not known:
        return []
    scores = " · ".join(f"{_named(verdict, ' ')} {_score(verdict)}" for verdict in known)
    return [
        f"Judged: {scores}",
        *(line for verdict in known if (line := _line(verdict, words(verdict.rationale), times))),
    ]


def named_turns(verdicts: Iterable[Verdict]) -> Mapping[int, str]:
    """Return who named each turn as evidence, by the number of the turn, counted from 1."""
    found: dict[int, list[str]] = {}
    for verdict in verdicts:
        for turn in dict.fromkeys(verdict.evidence or ()):
            found.setdefault(turn, []).append(verdict.judge)
    return {turn: f"named by {', '.join(dict.fromkeys(judges))}" for turn, judges in found.items()}


def _line(verdict: Verdict, rationale: object, times: Sequence[float | None]) -> str:
    turns = [_turn(turn, times) for turn in verdict.evidence or ()]
    prompt = [part for part in (verdict.prompt_hash, verdict.prompt_version) if part]
    known = [
        *([verdict.model] if verdict.model else []),
        *([f"prompt {' version '.join(prompt) if verdict.prompt_hash else f'version {prompt[0]}'}"] if prompt else []),
        *([f"{'turn' if len(turns) == 1 else 'turns'} {', '.join(turns)}"] if turns else []),
    ]
    if not known and not rationale:
        return ""
    text = f"{_named(verdict, ' on ')} {_score(verdict)}"
    text += f" ({'; '.join(known)})" if known else ""
    return text + (f": {rationale}" if rationale else "")


def _turn(number: int, times: Sequence[float | None]) -> str:
    """Return the number of a turn, counted from 1 over both sides, and when it was where that is known."""
    t = times[number - 1] if 0 < number <= len(times) else None
    return str(number) if t is None else f"{number} at {fixed(t, 1)} s"


def _named(verdict: Verdict, between: str) -> str:
    """Return the judge and what it judged, in one word where it is called after that."""
    return verdict.judge if verdict.judge == verdict.aspect else f"{verdict.judge}{between}{verdict.aspect}"


def _score(verdict: Verdict) -> str:
    return "unscored" if verdict.score is None else fixed(verdict.score, 1)
