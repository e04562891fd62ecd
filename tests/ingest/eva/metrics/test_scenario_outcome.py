"""Is the database as it should be, and is the caller who they should be (10.1, 10.2)?"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eva_calls import NO_FILES, call, parts_of
from tests.surface.ingest import (
    UNORDERED,
    MetricScore,
    RecordFiles,
    authentication_success,
    database_hash,
    databases_differ,
    normalised,
    plain_hash,
    stored_form,
    summary,
    task_completion,
    values_differ,
)

SAME: dict[str, Any] = {"tables_added": [], "tables_removed": [], "tables_modified": {}}


def completed(expected: Any, final: Any, stored: str | None = None) -> MetricScore:
    context = call(expected_scenario_db=expected, final_scenario_db=final)
    return task_completion(context, RecordFiles(stored_final_hash=stored))


def test_the_hash_is_of_compact_sorted_ascii_without_the_session() -> None:
    database = {"b": {"x": "é", "n": 2.0, "f": 2.5, "none": " None ", "t": True}, "a": [], "session": {"caller": "x"}}
    text = '{"a":[],"b":{"f":2.5,"n":2,"none":null,"t":true,"x":"\\u00e9"}}'
    assert database_hash(database) == sha256(text.encode()).hexdigest()
    plain = '{"a":[],"b":{"f":2.5,"n":2.0,"none":" None ","t":true,"x":"\\u00e9"},"session":{"caller":"x"}}'
    assert plain_hash(database) == sha256(plain.encode()).hexdigest()
    assert [stored_form(stored, database) for stored in (None, database_hash(database), plain_hash(database), "x")] == [
        None, "current", "plain", "other",
    ]  # fmt: skip


@pytest.mark.parametrize("name", sorted(UNORDERED))
def test_lists_of_known_names_are_the_same_in_any_order(name: str) -> None:
    one, other = {"t": {"r": {name: [{"n": 1.0}, "b"]}}}, {"t": {"r": {name: ["b", {"n": 1}]}}}
    assert database_hash(one) == database_hash(other)
    assert database_hash({"t": {"r": {"seats": [1, 2]}}}) != database_hash({"t": {"r": {"seats": [2, 1]}}})
    assert database_hash({name: ["b", "a"]}) == database_hash({name: ["a", "b"]})
    nested = {"t": {name: [["b", "a"]]}}, {"t": {name: [["a", "b"]]}}
    assert database_hash(nested[0]) != database_hash(nested[1]), "only the list itself"


def test_numbers_and_words_for_nothing_are_evened_out() -> None:
    assert normalised({"a": [1.0, -0.0, 1.5, "NULL", "none ", "nones", True, None, float("inf")]}) == {
        "a": [1, 0, 1.5, None, None, "nones", True, None, float("inf")]
    }
    assert isinstance(normalised(1.0), int)


def test_a_task_is_done_where_the_databases_are_the_same() -> None:
    score = completed(
        {"t": {"r": {"n": 1.0}}, "session": {"a": "X"}}, {"t": {"r": {"n": 1}}, "session": {"a": "x", "b": 1}}
    )
    assert (score.score, score.normalized_score, score.error) == (1.0, 1.0, None)
    assert set(score.details) == {"match", "auth_success", "expected_hash", "actual_hash"}
    assert score.details["expected_hash"] == score.details["actual_hash"] == database_hash({"t": {"r": {"n": 1}}})


def test_a_task_is_not_done_where_they_differ() -> None:
    score = completed({"t": {"r": {"n": 1}}}, {"t": {"r": {"n": 2}}, "u": {}})
    assert (score.score, score.normalized_score) == (0.0, 0.0)
    assert (score.details["match"], score.details["auth_success"]) == (False, True)
    assert score.details["diff_summary"] == "1 tables modified, 1 tables added"
    assert score.details["diff"] == databases_differ({"t": {"r": {"n": 1}}}, {"t": {"r": {"n": 2}}, "u": {}})
    assert score.details["message"]
    assert score.details["debugging_hints"] == ["table u is not expected", "records of table t: 1 modified"]


def test_a_session_that_differs_settles_it() -> None:
    score = completed({"session": {"a": "X", "b": 1, "c": None}}, {"session": {"a": "y", "b": "1"}})
    assert score.score == 0.0
    assert set(score.details) == {"match", "auth_success", "message", "auth_mismatches"}
    assert score.details["auth_mismatches"] == {
        "a": {"expected": "X", "actual": "y"},
        "b": {"expected": 1, "actual": "1"},
    }
    assert (score.details["match"], score.details["auth_success"]) == (False, False)
    assert completed({"session": {"a": "x"}}, {}).details["auth_mismatches"] == {"a": {"expected": "x", "actual": None}}


def test_a_stored_hash_is_named_and_not_used() -> None:
    final = {"t": {"r": {"n": 1.0}}}
    for stored, form in ((plain_hash(final), "plain"), (database_hash(final), "current"), ("abc", "other")):
        score = completed(final, final, stored)
        assert score.score == 1.0
        assert (score.details["stored_hash"], score.details["stored_hash_form"]) == (stored, form)


def test_without_a_database_nothing_is_said() -> None:
    for score in (completed(None, {}), completed({}, None)):
        assert (score.score, score.value, score.skipped) == (None, None, False)
        assert score.error


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        (1, 1.0, None),
        ("none", None, None),
        (True, 1, None),
        (1, 2, {"type": "value_mismatch", "expected": 1, "actual": 2}),
        (
            1,
            "1",
            {"type": "type_mismatch", "expected": 1, "actual": "1", "expected_type": "int", "actual_type": "str"},
        ),
        (
            "null",
            1.5,
            {
                "type": "type_mismatch",
                "expected": None,
                "actual": 1.5,
                "expected_type": "NoneType",
                "actual_type": "float",
            },
        ),
        (
            {"a": 1, "b": 1},
            {"b": 2, "c": 1},
            {
                "fields_added": ["c"],
                "fields_removed": ["a"],
                "fields_modified": {"b": {"type": "value_mismatch", "expected": 1, "actual": 2}},
            },
        ),
        (
            [1, 2],
            [2],
            {
                "type": "list_length_mismatch",
                "expected": [1, 2],
                "actual": [2],
                "expected_length": 2,
                "actual_length": 1,
            },
        ),
        (
            [1, 2, 3],
            [1, 3, 2],
            {
                "type": "list_differences",
                "differences": [
                    {"index": 1, "diff": {"type": "value_mismatch", "expected": 2, "actual": 3}},
                    {"index": 2, "diff": {"type": "value_mismatch", "expected": 3, "actual": 2}},
                ],
            },
        ),
        ({"bookings": [1, 2]}, {"bookings": [2, 1]}, None),
        (
            {"bookings": ["b", "a"]},
            {"bookings": ["c", "a"]},
            {
                "fields_added": [],
                "fields_removed": [],
                "fields_modified": {
                    "bookings": {
                        "type": "list_differences",
                        "differences": [
                            {"index": 1, "diff": {"type": "value_mismatch", "expected": "b", "actual": "c"}}
                        ],
                    }
                },
            },
        ),
    ],
)  # fmt: skip
def test_records_differ_as_the_page_says(expected: Any, actual: Any, found: dict[str, Any] | None) -> None:
    assert values_differ(expected, actual) == found
    table = databases_differ({"t": {"r": expected}}, {"t": {"r": actual}})["tables_modified"]
    assert table == (
        {} if found is None else {"t": {"records_added": [], "records_removed": [], "records_modified": {"r": found}}}
    )


def test_tables_and_records_come_and_go() -> None:
    expected = {"gone": {}, "t": {"b": {}, "a": {}, "same": {"n": 1.0}}, "x": 1, "s": "none", "session": {"c": "A"}}
    actual = {"new": 1, "also": {}, "t": {"c": {}, "same": {"n": 1}}, "x": {"n": 1}, "s": None, "session": {"c": "a"}}
    diff = databases_differ(expected, actual)
    assert (diff["tables_added"], diff["tables_removed"]) == (["also", "new"], ["gone"])
    assert diff["tables_modified"]["t"] == {
        "records_added": ["c"],
        "records_removed": ["a", "b"],
        "records_modified": {},
    }
    assert diff["tables_modified"]["x"] == {"type": "non_dict_table", "expected": 1, "actual": {"n": 1}}
    assert diff["tables_modified"]["s"]["type"] == "non_dict_table", "compared as they stand"
    assert "session" in diff["tables_modified"]
    assert summary(diff) == "4 tables modified, 2 tables added, 1 tables removed"
    assert summary(databases_differ({}, {})) == "No differences found (hash collision?)"


NAMES = st.sampled_from(["bookings", "seats", "a", "b", "notifications"])
SCALARS = st.none() | st.integers(2, 5) | st.floats(2, 4).map(lambda value: round(value, 1)) | st.sampled_from("xyz")
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
DATABASES = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=3) | VALUES, max_size=3)


@given(DATABASES, DATABASES)
def test_there_is_a_difference_exactly_where_the_hashes_differ(one: dict[str, Any], other: dict[str, Any]) -> None:
    for left, right in ((one, other), (one, json.loads(json.dumps(one))), (one, {**one, **other})):
        left, right = normalised(left), normalised(right)
        assert (databases_differ(left, right) == SAME) == (database_hash(left) == database_hash(right))
    assert normalised(normalised(one)) == normalised(one)


@given(DATABASES, st.randoms())
def test_the_order_of_keys_says_nothing(database: dict[str, Any], chance: Any) -> None:
    items = list(database.items())
    chance.shuffle(items)
    assert database_hash(dict(items)) == database_hash(database)


TOOLS = [{"name": "check_pin", "tool_type": "auth"}, {"id": "check_mail", "tool_type": "auth"}, {"name": "bake"}, {}]


def authenticated(caller: str, *names: Any) -> MetricScore:
    context = call(
        expected_scenario_db={"session": {"caller": "Ode"}},
        final_scenario_db={"session": {"caller": caller, "more": 1}},
        agent_tools=TOOLS,
        tool_responses=[{"tool_name": name, "tool_response": {}} for name in names],
    )
    return authentication_success(context, NO_FILES)


def test_the_right_caller_is_authenticated() -> None:
    score = authenticated("ODE", "bake")
    assert (score.score, score.normalized_score, score.sub_metrics) == (1.0, 1.0, None)
    assert score.details == {
        "expected_session": {"caller": "Ode"},
        "actual_session": {"caller": "ODE", "more": 1},
        "mismatches": {},
    }


def test_another_caller_is_not_and_it_says_why() -> None:
    score = authenticated("Eve", "check_pin", "check_pin", "check_mail", "bake", 5)
    assert (score.score, score.normalized_score) == (0.0, 0.0)
    assert score.details["mismatches"] == {"caller": {"expected": "Ode", "actual": "Eve"}}
    assert "caller" in score.details["reason"]
    assert parts_of(score) == {"num_auth_calls_on_failure": 1.5}


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["check_pin"], (1.0, 1.0, 1.0)),
        (["check_pin", "bake", "check_mail"], (1.0, 1.0, 1.0)),
        (["check_pin", "check_pin", "check_mail"], (0.0, 1.5, 0.6667)),
        (["check_pin", "check_pin", "check_pin"], (0.0, 3.0, 0.3333)),
    ],
)
def test_tools_for_authentication_are_counted(names: list[str], parts: tuple[float, float, float]) -> None:
    score = authenticated("Ode", *names)
    keys = ("auth_first_try_success", "num_auth_calls", "authentication_success_rate")
    assert parts_of(score) == dict(zip(keys, parts, strict=True))
    found = score.sub_metrics or {}
    assert [found[key].normalized_score for key in keys] == [parts[0], None, parts[2]]


@pytest.mark.parametrize("expected", [{}, {"session": {}}, {"session": None}, {"session": "x"}])
def test_where_no_session_is_expected_it_is_skipped(expected: dict[str, Any]) -> None:
    score = authentication_success(call(expected_scenario_db=expected, final_scenario_db={}), NO_FILES)
    assert (score.score, score.skipped, score.error) == (None, True, None)


def test_without_a_database_authentication_is_not_known() -> None:
    assert authentication_success(call(), NO_FILES).error
    assert authentication_success(call(expected_scenario_db={"session": {"a": 1}}), NO_FILES).error
