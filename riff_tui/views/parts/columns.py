"""The columns that views share, each with its unit, its good direction and its line of the glossary."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from riff_tui.table import Column

FLOW = Column("flow", "Flow", kind="name", help="The dialogue that the agent has to lead the caller through.")
AGENT = Column("agent", "Agent", kind="name", help="The model that led the call.")
STATE = Column("state", "State", kind="name", help="A node of the flow's state machine.")
SEGMENT = Column("segment", "Segment", kind="name", help="The phase of the call that the state belongs to.")
PERSONA = Column("persona", "Persona", kind="name", help="Who the simulated caller was.")
RUN = Column("run", "Run", kind="name", help="The evaluation run that the calls came from.")
SCENARIO = Column("scenario", "Scenario", kind="name", help="What the caller wanted.")
KEYS = {column.key: column for column in (FLOW, AGENT, STATE, SEGMENT, PERSONA, RUN, SCENARIO)}
HIDDEN_SEGMENT = dataclasses.replace(SEGMENT, shown=False)

N = Column("n", "n", kind="count", thin=True, help="Calls behind the row; below 5 it is thin and carries `~`.")
EXCLUDED = Column(
    "excluded",
    "excluded",
    kind="count",
    shown=False,
    help="Errored calls, not counted in averages: they are not the flow's fault.",
)

OPERABILITY = Column(
    "operability", "operability", unit="0-10", better="higher", strong=True, strong_title=True,
    help="Could this be put in front of callers: the weighted blend of what is measured, capped by correctness.",
)  # fmt: skip
CORRECTNESS = Column(
    "correctness", "correctness", unit="0-10", better="higher",
    help="Reached a success terminal, with its slots filled and a status on contract.",
)  # fmt: skip
COMPLETION = Column(
    "completion", "completion", unit="0-10", better="higher",
    help="10 where the flow ran to its own end, 0 where the call was cut or given up.",
)  # fmt: skip
ERRORS = Column(
    "errors", "errors", unit="0-10", better="higher",
    help="10 without errors; 2.5 less for each error, unsafe stop, loop or turn limit.",
)  # fmt: skip
CALL_LATENCY = Column(
    "latency_p95", "lat_p95", unit="s", better="lower",
    help="95th percentile of the agent's turn latencies in a call, averaged over calls.",
)  # fmt: skip
LATENCY_MEAN = Column(
    "latency_mean", "lat_mean", unit="s", better="lower", shown=False,
    help="Mean of the agent's turn latencies in a call, averaged over calls.",
)  # fmt: skip
TURN_COUNT = Column("turn_count", "turn_count", unit="turns", help="Agent turns in a call.")

STATE_METRICS: Sequence[Column] = (
    Column(
        "progress", "progress", unit="share", better="higher", decimals=2, trim=True,
        help="Share of calls that left the state forwards at least once.",
    ),
    Column(
        "stall", "stall", unit="share", better="lower", decimals=2, trim=True, strong=True,
        help="Share of calls that ended here, neither completed nor handed over.",
    ),
    Column(
        "escalation", "escal", unit="share", better="lower", decimals=2, trim=True,
        help="Share of calls that left the state for a human.",
    ),
    Column(
        "revisit", "revisit", unit="entries", better="lower", decimals=2, trim=True,
        help="How often a call came back to the state.",
    ),
    Column("dwell_turns", "dwell", unit="turns", better="lower", help="Agent turns per entry into the state."),
    Column(
        "latency_p95", "lat_p95(s)", unit="s", better="lower",
        help="95th percentile of the turn latencies in the state, averaged over calls.",
    ),
    Column(
        "guard_error", "guard_err", unit="errors", better="lower", decimals=2, trim=True, shown=False,
        help="Transition guards that raised, per call.",
    ),
    Column(
        "slot_fill_rate", "slot_fill", unit="share", better="higher",
        help="Required slots that this state filled; low with healthy progress means that the caller said it earlier.",
    ),
)  # fmt: skip
STATE_METRIC_KEYS = tuple(column.key for column in STATE_METRICS)

EXPECTED = Column("expected", "expected", kind="count", help="Calls whose task asks for this step.")
MISSED = Column(
    "missed", "missed", unit="share", better="lower", decimals=2, trim=True,
    help="Of the calls that had to take this step, those that never did.",
)  # fmt: skip
WRONG_ARGS = Column(
    "wrong_args", "wrong_args", unit="share", better="lower", decimals=2, trim=True,
    help="Of the calls that had to take this step, those that took it with other arguments than the reference.",
)  # fmt: skip
STEPS = (EXPECTED, MISSED, WRONG_ARGS)
STEP_KEYS = tuple(column.key for column in STEPS)
TO_STATES = Column(
    "to_states", "to_states", kind="object", shown=False, help="Where the state led to, with the count of each."
)


def judge(name: str) -> Column:
    """The column of one judge's mean."""
    return Column(
        f"humanness.{name}", f"hum:{name}", unit="0-10", better="higher", path=("humanness", name),
        help=f"How natural and warm the agent was, as {name} judged it.",
    )  # fmt: skip


def keys(names: Iterable[str]) -> list[Column]:
    """The name columns of a view, in the order asked for."""
    return [KEYS[name] for name in names]
