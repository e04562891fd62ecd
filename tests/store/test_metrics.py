"""One list of metrics: what is stored, filtered and compared by them agrees with it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from tests.surface.store import (
    ALIASES,
    FIELDS,
    METRICS,
    NO_ROWS,
    OF_CALLS,
    OF_STATES,
    Conversation,
    Metric,
    StateAspects,
    aspect_named,
    field_named,
    field_of,
    metric_of,
    metrics,
    plugins,
    unit_of,
)
from tests.surface.store import METRICS_COMPUTED as COMPUTED

PACE = Metric("pace", "pace", "Words per second.", unit="words/s", aliases=("speed",), compute="builtins:len")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """The plug-ins that a test names, loaded anew."""
    points = [EntryPoint(f"plug-in {at}", value, metrics.GROUP) for at, value in enumerate(request.param)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [p for p in points if p.group == group])
    plugins.cache_clear()
    yield
    plugins.cache_clear()


def test_every_metric_of_states_has_its_sums_its_fact_and_its_measure() -> None:
    facts = {name.removesuffix("_ms") for name in StateAspects.__struct_fields__}
    assert facts - {"state", "segment", "to_states", "position"} == set(OF_STATES)
    assert list(NO_ROWS.measures()) == [key for key, metric in OF_STATES.items() if metric.unit != "calls"]


def test_every_metric_can_be_filtered_by_its_key_and_its_aliases() -> None:
    for metric in METRICS:
        assert FIELDS[metric.key].kind == "number"
        assert all(ALIASES[alias] == metric.key for alias in metric.aliases)
    assert {name for name, field in FIELDS.items() if field.level == "state" and field.kind == "number"} == (
        OF_STATES.keys() - OF_CALLS.keys()
    )


def test_what_heads_a_column_names_its_metric_unless_a_field_is_called_so() -> None:
    heads = {title: metric.key for metric in METRICS for title in (metric.short, metric.title) if title.isidentifier()}
    assert heads["succ"] == "success_rate"
    for title, key in heads.items():
        assert title in FIELDS or ALIASES[title] == key
    assert not ALIASES.keys() & FIELDS.keys()


def test_every_metric_says_what_it_is() -> None:
    assert all(metric.help.endswith(".") and metric.definition for metric in METRICS)
    kept = {metric.of_call for metric in METRICS if metric.of_call}
    assert kept <= Conversation._meta.fields.keys()
    assert {metric.rate_of for metric in METRICS if metric.rate_of} <= {*COMPUTED, *kept}
    assert unit_of("latency_mean") == "s"
    assert unit_of("politeness") == "0-10", "judges score from 0 to 10"


@pytest.mark.parametrize(
    ("key", "value", "held"),
    [("stt_wer", 1.5, True), ("stt_wer", 1e300, False), ("stt_wer", -0.1, False), ("turn_taking", 1.0, True),
     ("turn_taking", 1.01, False), ("turn_taking", float("nan"), False)],
)  # fmt: skip
def test_a_value_counts_where_it_is_on_its_scale_and_can_be_summed(key: str, value: float, held: bool) -> None:
    assert OF_CALLS[key].holds(value) is held


@pytest.mark.parametrize("registered", [[f"{__name__}:PACE"]], indirect=True)
@pytest.mark.usefixtures("registered")
def test_a_distribution_adds_an_aspect() -> None:
    assert metric_of("pace") is PACE
    assert (field_of("pace").kind, field_of("pace").level) == ("number", "call")
    assert field_named("speed") == field_named("pace") == field_of("pace")
    assert PACE in metrics.to_compute()
    assert field_named("pacing") is None
    assert aspect_named("speed") == aspect_named("pace") == "pace"


def test_an_alias_stands_for_its_aspect_and_any_other_name_for_itself() -> None:
    assert [aspect_named(name) for name in ("lat_p95", "hum", "latency_p95")] == [
        "latency_p95", "humanness", "latency_p95"
    ]  # fmt: skip
    assert [aspect_named(name) for name in ("warmth", "quality", "dwell", "oper")] == [
        "warmth", "quality", "dwell", "oper"
    ], "neither what judges score nor metrics of states and rows are aspects of this list"  # fmt: skip


BROKEN = Metric("stall", "stall", "A name that is taken.", compute="builtins:len")
NAMELESS = Metric("Pace of speech", "pace", "A name that no filter can say.", compute="builtins:len")
UNCOMPUTED = Metric("calm", "calm", "Nothing computes it.")
MISSING = Metric("calm", "calm", "A module that is missing computes it.", compute="no_such_module:calm")


@pytest.mark.parametrize(
    "registered",
    [[f"{__name__}:{name}"] for name in ("BROKEN", "NAMELESS", "UNCOMPUTED", "MISSING", "__name__", "missing")],
    indirect=True,
)
@pytest.mark.usefixtures("registered")
def test_a_plug_in_that_cannot_be_used_is_left_out_and_said() -> None:
    found = plugins()
    assert not found.metrics
    assert len(found.problems) == 1
    assert found.problems[0].startswith("metric plug-in plug-in 0 (")
    assert metric_of("pace") is None
