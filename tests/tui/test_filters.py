"""The filter grammar: what each expression means, what is refused and where, and that it reads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import FIELDS, And, Not, Or, Predicate, Term, matches
from tests.surface.tui import Filter, FilterError, one_line, parse, quote, split, take_judges
from tests.surface.tui import filters_render as render

CALL = {"flow": "dental_clinic", "agent": "gemini-2.5-f", "persona": None, "correctness": 9.2, "completed": True}
STATE_ROW = ("flow", "state", "segment", "n", "stall", "latency_p95")
FLOW_ROW = ("flow", "agent", "n", "excluded", "operability", "correctness", "humanness")


def shows(expression: str, record: dict[str, Any], names: tuple[str, ...] = ("flow", "agent", "persona")) -> bool:
    predicate = parse(expression)
    return predicate is None or matches(predicate, record, names)


def refused(expression: str) -> FilterError:
    with pytest.raises(FilterError) as caught:
        parse(expression)
    return caught.value


# what an expression means


@pytest.mark.parametrize(
    ("expression", "meaning"),
    [
        ("dent", Term(None, "contains", "dent")),
        ("flow:dent", Term("flow", "contains", "dent")),
        ("flow=dental_clinic", Term("flow", "=", "dental_clinic")),
        ("flow!='a b'", Term("flow", "!=", "a b")),
        ("flow!=/a/", Term("flow", "!=", "/a/")),
        ("stall>0.3", Term("stall", ">", 0.3)),
        ("progress<=.7", Term("progress", "<=", 0.7)),
        ("slot_fill_rate=·", Term("slot_fill_rate", "missing")),
        ("persona=none", Term("persona", "missing")),
        ("persona!=none", Term("persona", "measured")),
        ("persona='none'", Term("persona", "=", "none")),
        ("persona:none", Term("persona", "contains", "none")),
        ("!dent", Not(Term(None, "contains", "dent"))),
        ("/^dent(al)?/", Term(None, "matches", "^dent(al)?")),
        ("agent:/2\\.5|a\\/b/i", Term("agent", "matches", "(?i)2\\.5|a/b")),
        ("completed=yes", Term("completed", "=", 1.0)),
        ("errored:FALSE", Term("errored", "=", 0.0)),
        ("trial:3", Term("trial", "=", 3.0)),
        ("started_at>=2026-06-22", Term("started_at", ">=", "2026-06-22")),
        ("humanness.codex<3", Term("humanness.codex", "<", 3.0)),
        ("hum.'gpt 4'<3", Term("humanness.gpt 4", "<", 3.0)),
        ("Flow:x", Term("flow", "contains", "x")),
        ('"\\u001b[2J \\"x\\" \\\\"', Term(None, "contains", '\x1b[2J "x" \\')),
        ("gpt-4.1", Term(None, "contains", "gpt-4.1")),
        ("[/foo]", Term(None, "contains", "[/foo]")),
    ],
)
def test_reads_a_term(expression: str, meaning: Predicate) -> None:
    assert parse(expression) == meaning


@pytest.mark.parametrize(
    ("short", "field"),
    [("latency", "latency_p95"), ("dwell", "dwell_turns"), ("slot_fill", "slot_fill_rate"), ("escal", "escalation"),
     ("oper", "operability"), ("turns", "turn_count"), ("hum", "humanness")],
)  # fmt: skip
def test_knows_the_short_names_of_the_columns(short: str, field: str) -> None:
    assert parse(f"{short}>1") == Term(field, ">", 1.0)


@pytest.mark.parametrize(
    ("shown", "meaning"),
    [
        ("hum:sim-strict<4", Term("humanness.sim-strict", "<", 4.0)),
        ("hum:4o@v2>=4.5", Term("humanness.4o@v2", ">=", 4.5)),
        ("hum:sim-strict=·", Term("humanness.sim-strict", "missing")),
        ("hum:5", Term("humanness", "=", 5.0)),
        ("success<30%", Term("success_rate", "<", 0.3)),
        ("success=30%", Term("success_rate", "=", 0.3)),
        ("success>=0.5", Term("success_rate", ">=", 0.5)),
        ("success=true", Term("success", "=", 1.0)),
        ("success_rate>12.5%", Term("success_rate", ">", 0.125)),
        ("stall>29%", Term("stall", ">", 0.29)),
        ("pass1<100%", Term("pass1", "<", 1.0)),
    ],
)
def test_a_column_is_compared_as_it_is_headed_and_shown(shown: str, meaning: Predicate) -> None:
    assert parse(shown) == meaning


def test_a_blank_binds_tighter_than_a_bar() -> None:
    a, b, c = (Term(None, "contains", letter) for letter in "abc")
    assert parse("a b | c") == Or((And((a, b)), c))
    assert parse("a (b|c)") == And((a, Or((b, c))))
    assert parse("!(a b) c") == And((Not(And((a, b))), c))
    assert parse("((a))") == a


def test_a_group_in_parentheses_stays_one() -> None:
    stalled = And((Term("state", "=", "triage"), Term("stall", "=", 1.0)))
    assert parse("(state=triage stall=1) flow:x") == And((stalled, Term("flow", "contains", "x")))


@pytest.mark.parametrize("blank", ["", " ", "   "])
def test_a_blank_expression_filters_nothing(blank: str) -> None:
    assert parse(blank) is None


def test_terms_know_where_they_stand() -> None:
    found = parse("dent  !flow:x")
    assert isinstance(found, And)
    first, second = found.parts
    assert isinstance(first, Term)
    assert isinstance(second, Not)
    assert isinstance(second.part, Term)
    assert (first.position, second.part.position) == (0, 7)


# which rows it shows


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("DENT", True),
        ("flow:Clinic agent:gemini", True),
        ("flow=dental", False),
        ("flow=Dental_Clinic", False),
        ("dent | zebra", True),
        ("correctness>9 correctness<9.3", True),
        ("correctness!=9.2", False),
        ("completed=true", True),
        ("completed!=true", False),
        ("/^dental/ !/^clinic/", True),
        ("/DENTAL/", False),
        ("/DENTAL/i", True),
    ],
)
def test_shows_the_rows_that_it_describes(expression: str, shown: bool) -> None:
    assert shows(expression, CALL) is shown


@pytest.mark.parametrize("comparison", ["persona:h", "persona=x", "persona!=x", "errors<5", "errors>=0", "errors!=3"])
def test_what_was_not_measured_satisfies_no_comparison(comparison: str) -> None:
    assert not shows(comparison, CALL)
    assert shows(f"!{comparison}", CALL)


def test_what_was_not_measured_can_be_asked_for() -> None:
    assert shows("persona=· errors=none", CALL)
    assert not shows("persona!=·", CALL)
    assert shows("flow!=·", CALL)


def test_of_several_judges_any_counts_unless_one_is_named() -> None:
    row = {"humanness": {"codex#ab12cd": 2.0, "gemini": 6.0, "qwen": None}}
    assert shows("humanness<3", row)
    assert shows("humanness.codex<3", row)
    assert not shows("humanness.gemini<3", row)
    assert shows("humanness.qwen=·", row)
    assert shows("humanness!=·", row)
    assert not shows("humanness!=6", row)
    assert shows("humanness=·", {"humanness": {}})


def test_looks_through_the_successors_of_a_state() -> None:
    row = {"to_states": {"confirm": 3, "escalated": 1}}
    assert shows("to_states:escal", row)
    assert shows("to_states=confirm", row)
    assert not shows("to_states:greet", row)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("started_at=2026", True),
        ("started_at=2026-06-22", True),
        ("started_at:2026-06-22T02:00", True),
        ("started_at=2026-06-22T02:00:07", True),
        ("started_at=2026-06-22T02:00:07.5Z", False),
        ("started_at=2026-06-22T04:00+02:00", True),
        ("started_at!=2026-07", True),
        ("started_at>2026-06-22", False),
        ("started_at>2026-06-21", True),
        ("started_at>=2026-06-22", True),
        ("started_at<2026-06-22", False),
        ("started_at<=2026-06-22", True),
        ("started_at<2026-06-23", True),
        ("started_at<='2026-06-22 01:59'", False),
    ],
)
@pytest.mark.parametrize("moment", ["2026-06-22T02:00:07Z", 1_782_093_607_000_000])
def test_a_date_is_as_long_as_it_is_vague(expression: str, shown: bool, moment: object) -> None:
    assert shows(expression, {"started_at": moment}) is shown


@pytest.mark.parametrize("date", ["2026-12", "9999-12-31", "9999-12", "9999", "0001-01-01T00:00+14:00"])
def test_the_ends_of_the_calendar_are_dates(date: str) -> None:
    assert shows(f"started_at!={date}", {"started_at": 0})


def test_case_is_ignored_beyond_ascii_without_confusing_letters() -> None:
    assert shows("flow:ÜBER", {"flow": "über"})
    assert shows("flow:ΟΔΟΣ", {"flow": "οδος1"})
    assert not shows("flow:k", {"flow": "\u212a"})


# what is refused, and where


@pytest.mark.parametrize(
    ("expression", "position", "words"),
    [
        ("flwo:x", 0, "near: flow"),
        ("a  xyzzy>3", 3, "no field is called xyzzy"),
        ("stall>0,3", 6, "0,3 is not a number"),
        ("stall>nan", 6, "nan is not a number"),
        ("stall>%", 6, "% is not a number"),
        ("qual>30%", 5, "quality is not a share"),
        ("hum:codex", 4, "humanness.codex<4"),
        ("hum:codex<low", 10, "low is not a number"),
        ("stall>1e999", 6, "not a number"),
        ("stall>٣", 6, "not a number"),
        ("stall=low", 6, "not a number"),
        ("success=1x%", 8, "true or false"),
        ("stall > 0.3", 6, "without a blank"),
        ("stall>", 6, "a value is missing"),
        ("flow= x", 5, "a value is missing"),
        ("flow<x", 5, "has no order"),
        ("stall<none", 6, "has no order"),
        ("completed>1", 10, "true or false"),
        ("completed=maybe", 10, "true or false"),
        ("stall:/0/", 6, "not text"),
        ("started_at>yesterday", 11, "not a date"),
        ("started_at>2026-02-30", 11, "not a date"),
        ("started_at>0000-01-01", 11, "not a date"),
        ("flow.x=1", 0, "has no parts"),
        ("slot-fill<3", 9, "no field is before"),
        ("(a", 0, "not closed"),
        ("a)", 1, "no parenthesis is open"),
        ("()", 1, "missing"),
        ("a |", 3, "missing"),
        ("| a", 0, "missing"),
        ("!", 0, "nothing follows"),
        ("! a", 0, "nothing follows"),
        ("'abc", 0, "not closed"),
        ("'a'b", 3, "a blank is missing"),
        ("a(b)", 1, "a blank is missing"),
        ("'\\x41'", 1, "escape"),
        ("'\\ud800'", 1, "escape"),
        ("'\\U00110000'", 1, "escape"),
        ("/abc", 0, "not closed"),
        ("x /[/", 2, "makes no sense"),
        ("/a{99999999999999}/", 0, "makes no sense"),
        ("flow:/(/", 5, "makes no sense"),
        ("a\tb", 1, "U+0009"),
        ("flow:\x1b[2J", 5, "U+001B"),
        ("x\ud800", 1, "U+D800"),
        ("flow:a\x9bb", 6, "U+009B"),
    ],
)
def test_names_the_place_and_the_reason(expression: str, position: int, words: str) -> None:
    error = refused(expression)
    assert words in error.message
    assert error.position == position
    assert f"character {position + 1}" in str(error)


@pytest.mark.parametrize("expression", ["(" * 5000 + "a" + ")" * 4999, "!" * 5000 + "a", "(" * 9000])
def test_deep_nesting_is_an_error_and_no_crash(expression: str) -> None:
    assert "nested" in refused(expression).message


def test_the_deepest_expression_is_read_and_a_deeper_one_names_the_limit() -> None:
    assert parse("(" * 40 + "a" + ")" * 40) == parse("a")
    assert "more than 40 deep" in refused("(" * 41 + "a" + ")" * 41).message


def test_endless_expressions_are_refused() -> None:
    assert "longer" in refused("a" * 10_001).message
    assert parse("a " * 200) == And((Term(None, "contains", "a"),) * 200)
    assert "more than 200 terms" in refused("a " * 201).message
    assert "longer" in refused("/" + "a" * 600 + "/").message


def test_the_longest_regular_expression_is_read_and_a_longer_one_names_the_limit() -> None:
    longest = "a" * 500
    assert parse(f"/{longest}/") == Term(None, "matches", longest)
    assert "500" in refused(f"/{longest}a/").message


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("()!|=<>:/'\"\\ ·"), max_size=40))
def test_any_text_is_read_or_refused(expression: str) -> None:
    try:
        parse(expression)
    except FilterError as error:
        position = error.position
    else:
        position = 0
    assert 0 <= position <= len(expression)


# what is written reads back


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_can_be_asked_for_exactly(name: str) -> None:
    assert parse(f"flow={quote(name)} stall>1") == And((Term("flow", "=", name), Term("stall", ">", 1.0)))
    assert parse(f"humanness.{quote(name)}>1") == Term(f"humanness.{name}", ">", 1.0)


@given(st.text())
def test_a_quoted_name_is_printable(name: str) -> None:
    assert quote(name).isprintable()


def test_a_lone_surrogate_is_quoted_as_the_store_keeps_it() -> None:
    assert parse(f"flow={quote('a' + chr(0xD800))}") == Term("flow", "=", "a\\ud800")


def test_no_mark_of_a_name_is_lost_where_a_display_leaves_some_out() -> None:
    tower = "Zo\u0308e" + "\u0301" * 9
    shown = one_line(quote(tower))
    assert shown == '"Zo' + "\\u0308e" + "\\u0301" * 9 + '"'
    assert parse(f"flow={shown}") == Term("flow", "=", tower)


@pytest.mark.parametrize("name", ["none", "·", "", "a b", "(unknown)", "x|y", "!x", "/x/", "it's", 'say "x"', "a\\b"])
def test_odd_names_are_quoted(name: str) -> None:
    assert quote(name).startswith('"')
    assert shows(f"flow={quote(name)}", {"flow": name})


def test_noted_alone_is_a_flag_and_text_in_quotes() -> None:
    assert parse("noted") == Term("noted", "=", 1.0)
    assert parse("!noted flow:dent") == And((Not(Term("noted", "=", 1.0)), Term("flow", "contains", "dent")))
    assert parse('"noted"') == Term(None, "contains", "noted")
    assert parse("callback_noted") == Term(None, "contains", "callback_noted")
    for text in ("noted", "Noted", '"noted"'):
        assert parse(render(parse(text))) == parse(text)


@pytest.mark.parametrize("name", ["dental_clinic", "gemini-2.5-f", "codex#ab12cd", "größe"])
def test_plain_names_stay_plain(name: str) -> None:
    assert quote(name) == name


names = st.sampled_from(sorted(name for name, field in FIELDS.items() if field.kind == "name"))
numbers = st.sampled_from(sorted(name for name, field in FIELDS.items() if field.kind == "number")) | st.builds(
    "humanness.{}".format, st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
)
plain_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
leaves: st.SearchStrategy[Predicate] = st.one_of(
    st.builds(Term, st.none() | names, st.just("contains"), plain_text),
    st.builds(
        Term, st.none() | names, st.just("matches"), st.sampled_from(["a/b", "^x$", "[/]", "(?i)a b", "a|b", "\\\\/"])
    ),
    st.builds(Term, names, st.sampled_from(["=", "!="]), plain_text),
    st.builds(Term, numbers, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.floats(-1e9, 1e9)),
    st.builds(Term, names | numbers, st.sampled_from(["missing", "measured"])),
    st.builds(Term, st.just("errored"), st.just("="), st.sampled_from([0.0, 1.0])),
    st.builds(Term, st.just("started_at"), st.just(">="), st.just("2026-06-22T02:00")),
)
predicates = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(And, st.lists(parts, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(parts, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)


@given(predicates)
def test_what_is_written_reads_back_as_it_was(predicate: Predicate) -> None:
    assert parse(render(predicate)) == predicate


def test_nothing_is_written_as_nothing() -> None:
    assert render(None) == ""


def test_filters_of_one_text_are_one_however_they_came_about() -> None:
    typed, rendered = Filter("flow=a n>3"), Filter.of(parse("flow=a  n>3.0"))
    assert typed == rendered
    assert len({typed, rendered}) == 1
    assert typed != Filter("flow=a")


def test_a_filter_within_another_one_is_a_term_or_a_group_behind_it() -> None:
    here, typed = Filter("flow=a"), Filter("n>3")
    assert (here & typed).text == "flow=a n>3"
    assert (here & Filter("n>3 | stall>0")).text == "flow=a (n>3 | stall>0)"
    assert here & Filter(" ") == here == Filter() & here
    assert not Filter() & Filter()


# what speaks of calls, and what of rows


def parts(expression: str, row_fields: tuple[str, ...]) -> tuple[str, str]:
    calls, rows = split(parse(expression), row_fields)
    return render(calls), render(rows)


@pytest.mark.parametrize(
    ("expression", "calls", "rows"),
    [
        ("", "", ""),
        ("flow:dent", "", "flow:dent"),
        ("stall>0.3 n>=5", "", "stall>0.3 n>=5"),
        ("persona:x stall>0.3", "persona:x", "stall>0.3"),
        ("flow:dent persona:x", "flow:dent persona:x", "flow:dent"),
        ("segment=collect run=r1", "run=r1", "segment=collect"),
        ("correctness<10", "correctness<10", ""),
        ("latency>8", "", "latency_p95>8"),
        ("dent", "", "dent"),
        ("flow:a | stall>1", "", "flow:a | stall>1"),
        ("flow:a | persona:x", "flow:a | persona:x", ""),
        ("(persona:x stall>0.3) flow:a", "flow:a persona:x", "stall>0.3 flow:a"),
        ("(persona:x run:y)", "persona:x run:y", ""),
        ("!(flow:a | persona:x)", "!(flow:a | persona:x)", ""),
    ],
)
def test_parts_what_is_said_of_calls_from_what_is_said_of_states(expression: str, calls: str, rows: str) -> None:
    assert parts(expression, STATE_ROW) == (calls, rows)


def test_in_the_flow_matrix_a_state_means_the_calls_that_came_there() -> None:
    expression = "(state=triage stall=1) correctness<5"
    assert parts(expression, FLOW_ROW) == ("state=triage stall=1", "correctness<5")


def test_groups_about_states_stay_apart_among_calls() -> None:
    expression = "(state=a stall=1) (state=b escalation=1) persona:x"
    assert parts(expression, FLOW_ROW) == (expression, "")


def test_in_the_list_of_calls_everything_is_about_calls() -> None:
    expression = "word (state=a stall=1) | !correctness<5"
    assert parts(expression, ()) == (expression, "")


@pytest.mark.parametrize(
    ("expression", "position", "words"),
    [
        ("persona:x | stall>0.3", 12, "stall filters the rows shown, persona of the calls"),
        ("flow:a !(persona:x stall>0.3)", 19, "stall filters the rows shown, persona of the calls"),
        ("dent | persona:x", 7, "a bare word filters the rows shown, persona of the calls"),
        ("/dent/ | persona:x", 9, "a bare /re/ filters the rows shown, persona of the calls"),
    ],
)
def test_calls_and_rows_cannot_be_alternatives_of_each_other(expression: str, position: int, words: str) -> None:
    with pytest.raises(FilterError, match=words) as caught:
        split(parse(expression), STATE_ROW)
    assert caught.value.position == position


@pytest.mark.parametrize(("expression", "row_fields"), [("operability<4", ()), ("flow:a worst_n>3", STATE_ROW)])
def test_a_column_of_another_view_is_an_error(expression: str, row_fields: tuple[str, ...]) -> None:
    with pytest.raises(FilterError, match="rows here have no"):
        split(parse(expression), row_fields)


def test_a_rate_of_single_calls_is_refused_with_the_flag_to_ask_instead() -> None:
    with pytest.raises(FilterError, match="rows here have no success_rate; of single calls ask success=true"):
        split(parse("success<30%"), ())


def test_a_column_that_rows_lack_is_refused_with_the_nearest_that_they_have() -> None:
    with pytest.raises(FilterError) as caught:
        split(parse("share>0.1"), ("flow", "call_share", "errored"))
    assert caught.value.message == "rows here have no share; near: call_share"


def test_an_aspect_goes_by_its_aliases_unless_it_is_quoted() -> None:
    assert parse("aspect=p95") == parse("aspect=latency_p95") == Term("aspect", "=", "latency_p95")
    assert parse("aspect:p95") == Term("aspect", "contains", "p95")
    assert parse("aspect='p95'") == Term("aspect", "=", "p95") == parse(render(Term("aspect", "=", "p95")))
    assert render(parse("aspect=warmth")) == "aspect=warmth"
    assert parse("agent=p95") == Term("agent", "=", "p95")
    assert render(parse("agent=p95")) == "agent=p95"


def test_takes_out_what_chooses_judges() -> None:
    judges, rest = take_judges(parse("flow:a (judge:codex | judge=gemini) !judge:old n>3"))
    assert render(judges) == "(judge:codex | judge=gemini) !judge:old"
    assert render(rest) == "flow:a n>3"
    assert take_judges(None) == (None, None)


def test_judges_cannot_be_tied_to_rows() -> None:
    with pytest.raises(FilterError, match="chooses among judges") as caught:
        take_judges(parse("n>3 (flow:a | judge:codex)"))
    assert caught.value.position == 14
