"""How the sides shared the line: pooled over events, from the rollup and from the calls alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.support import spoken_calls
from tests.support.contrasts import clustered
from tests.support.facts import call, fresh, grouped_by, put
from tests.support.listed_scores import listed
from tests.support.random_stores import grouped
from tests.surface.store import (
    POOLED,
    SUMS,
    ConversationFacts,
    Interaction,
    Store,
    call_interaction,
    conversations,
    effects,
    flow_cells,
    panel,
    score_pages,
)
from tests.surface.store import schema as m
from tests.surface.tui import parse

BY_CALL = "trial>=0"
"""A filter that holds of every call and takes a look at the calls themselves."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with spoken_calls.made(tmp_path_factory.mktemp("spoken") / "calls.db") as opened:
        yield opened


def by_hand(found: list[ConversationFacts]) -> tuple[Interaction | None, Interaction | None]:
    counted = spoken_calls.together([facts for facts in found if not facts.errored])
    return counted, spoken_calls.together(found)


@pytest.mark.parametrize("where", ["", BY_CALL])
@pytest.mark.parametrize("by", [("flow", "agent"), ("run",), ("agent",), ("scenario",), ()])
def test_figures_are_of_all_events_together(where: str, by: tuple[str, ...], store: Store) -> None:
    wanted = grouped(list(spoken_calls.calls()), lambda facts: tuple(grouped_by(facts, name) for name in by))
    for cell in flow_cells(store, parse(where), by):
        for mine, theirs in zip(
            by_hand(wanted[tuple(cell.keys.values())]), (cell.interaction, cell.interaction_all), strict=True
        ):
            ours, found = panel(mine), panel(theirs)
            assert (ours is None) == (found is None)
            if ours is not None and found is not None:
                assert found.pop("counts") == ours.pop("counts")
                assert found == pytest.approx(ours, abs=1e-9)


@pytest.mark.parametrize("by", [("flow", "agent"), ("run",), ("agent",)])
def test_rollup_and_calls_agree_to_the_last_digit(by: tuple[str, ...], store: Store) -> None:
    def found(where: str) -> list[tuple[Interaction | None, Interaction | None]]:
        return [(cell.interaction, cell.interaction_all) for cell in flow_cells(store, parse(where), by)]

    assert found("") == found(BY_CALL)


def test_errored_calls_alone_give_no_figure_that_counts(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.json", [call("c-1", errored=True, interaction=spoken_calls.heard(1)), call("c-2")])
        [cell] = flow_cells(store)
        assert cell.interaction is None
        assert cell.interaction_all is not None
        assert cell.interaction_all.response_total == spoken_calls.heard(1).response_total


def test_calls_without_a_record_have_no_figures(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.json", [call("c-1"), call("c-2")])
        [cell] = flow_cells(store)
        assert (cell.interaction, cell.interaction_all) == (None, None)


@pytest.mark.parametrize("key", POOLED)
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("<0.6", lambda value: value is not None and value < 0.6),
        (">=0.6", lambda value: value is not None and value >= 0.6),
        ("=·", lambda value: value is None),
        ("!=1", lambda value: value is not None and value != 1),
    ],
)
def test_a_filter_of_calls_goes_by_the_events_of_each_call(
    key: str, condition: str, holds: Callable[[float | None], bool], store: Store
) -> None:
    found = {listed.conversation for listed in conversations(store, parse(f"{key}{condition}"), limit=100)}
    assert found == {
        facts.conversation_id
        for facts in spoken_calls.calls()
        if holds(None if facts.interaction is None else facts.interaction.value(POOLED[key]))
    }


@pytest.mark.parametrize("key", POOLED)
@pytest.mark.parametrize("down", [False, True])
def test_calls_are_sorted_by_their_own_events(key: str, down: bool, store: Store) -> None:
    figures = {
        facts.conversation_id: None if facts.interaction is None else facts.interaction.value(POOLED[key])
        for facts in spoken_calls.calls()
    }
    found = [
        figures[listed.conversation] for listed in conversations(store, sort=f"{'-' if down else ''}{key}", limit=100)
    ]
    measured = sorted((value for value in figures.values() if value is not None), reverse=down)
    assert found == pytest.approx([*measured, *[None] * (len(figures) - len(measured))])


def test_a_call_has_its_own_sums(store: Store) -> None:
    of_calls = {facts.conversation_id: facts.interaction for facts in spoken_calls.calls()}
    rows = list(store.execute(m.Conversation.select(m.Conversation.id, m.Conversation.name)))
    assert {name: call_interaction(store, key) for key, name in rows} == of_calls


def test_effects_are_of_events_and_intervals_of_calls(store: Store) -> None:
    """The same model over single events, each its own value: effects and intervals must not tell the difference."""
    answer = effects(store, aspect="response_rate")
    calls = [made for made in spoken_calls.calls() if not made.errored and made.interaction]
    rows = [
        (number, made.agent_model, made.flow, float(place < sums.response))
        for number, made in enumerate(calls)
        if (sums := made.interaction)
        for place in range(sums.response_total)
    ]
    frame = pd.DataFrame(rows, columns=["call", "agent", "flow", "y"])
    effect, half = clustered(frame, ("agent", "flow"))
    assert answer.model.observations == len(rows)
    assert answer.model.mean == pytest.approx(frame["y"].mean())
    assert [factor.factor for factor in answer.model.factors] == ["agent", "flow"]
    for factor in answer.model.factors:
        for level in factor.levels:
            mine, of_level = (factor.factor, str(level.level)), frame[frame[factor.factor] == level.level]
            assert (level.n, level.observations) == (of_level["call"].nunique(), len(of_level))
            assert level.effect == pytest.approx(effect[mine])
            assert (level.low, level.high) == pytest.approx((effect[mine] - half[mine], effect[mine] + half[mine]))


def test_effects_know_the_figures_where_some_call_has_them(store: Store, tmp_path: Path) -> None:
    assert set(POOLED) < set(effects(store).aspects)
    with fresh(tmp_path / "text.db") as other:
        put(other, "/in/a.json", [call("c-1")])
        assert not set(POOLED) & set(effects(other).aspects)


def test_the_export_has_what_figures_are_pooled_from(store: Store) -> None:
    sums: dict[str, dict[str, float | None]] = {}
    for score in listed(score_pages(store)):
        if score.aspect.startswith("interaction."):
            assert score.judge == "(computed)"
            sums.setdefault(score.call.conversation, {})[score.aspect.removeprefix("interaction.")] = score.value
    assert sums == {
        made.conversation_id: {name: pytest.approx(getattr(made.interaction, name)) for name in SUMS[1:]}
        for made in spoken_calls.calls()
        if made.interaction is not None
    }
