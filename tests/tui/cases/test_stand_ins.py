"""What points at a caller is replaced by something of the same form, everywhere by the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import CASE_SCHEMA, CaseFact, CaseFailure, CaseFile, CaseLine
from tests.surface.tui import with_stand_ins

POOLS = {"name": "person", "phone": "phone", "unit": "unit", "mail": "email", "home": "address", "tap": "complaint"}
POOLS |= {"gate": "gate_code", "guest": "attendee", "to": "recipient", "born": "birth_date"}
POOLS |= dict.fromkeys(("policy", "iban", "card"), "member_id")


def redacted(facts: dict[str, object], *said: str) -> CaseFile:
    case = CaseFile(
        case_schema=CASE_SCHEMA,
        flow="taps",
        name="stuck",
        facts={slot: CaseFact(value) for slot, value in facts.items()},
        lines=[CaseLine(text) for text in said],
    )
    return with_stand_ins(case, POOLS)


def test_a_name_is_replaced_wherever_it_is_said_in_whole_or_in_part() -> None:
    case = redacted({"name": "Inge Tamm"}, "This is Inge Tamm.", "Tamm, T-a-m-m. inge tamm!", "Ask for Inge.")
    new = str(case.facts["name"].value)
    first, last = new.split()
    assert {"Inge", "Tamm"}.isdisjoint(new.split())
    assert [line.text for line in case.lines] == [f"This is {new}.", f"{last}, T-a-m-m. {new}!", f"Ask for {first}."]


@pytest.mark.parametrize(
    ("slot", "value", "form"),
    [
        ("unit", "132B", r"1\d\d[A-Z]"),
        ("unit", "unit 45", r"unit \d\d"),
        ("unit", "Q-90210", r"[A-Z]-\d{5}"),
        ("phone", "512-555-0134", r"\d{3}-555-01\d\d"),
        ("phone", "(030) 901 82 71", r"\(030\) 555 01 \d\d"),
        ("phone", "+49 171 2345678", r"\+49 171 55501\d\d"),
        ("mail", "inge.tamm@firm.example", r"[\w.]+@\w+\.example"),
        ("home", "17 Rosenweg", r"\d+ .+"),
        ("gate", "4417#", r"\d{4}#"),
        ("gate", "star 90", r"star \d\d"),
        ("guest", "Inge from legal", r"\w+ (from|in) \w+"),
        ("to", "Inge", r"\w+"),
        ("born", "1987-04-12", r"19\d\d-(0[1-9]|1[0-2])-[12]\d"),
        ("born", "4/12/1987", r"[1-9]/1[0-2]/19\d\d"),
        ("born", "24.12.87", r"[12]\d\.(0[1-9]|1[0-2])\.\d\d"),
        ("policy", "A123456789", r"[A-Z]\d{9}"),
        ("iban", "DE89 3704 0044 0532 0130 00", r"DE\d\d \d{4} \d{4} \d{4} \d{4} \d\d"),
        ("card", "4111 1111 1111 1111", r"\d{4} \d{4} \d{4} \d{4}"),
    ],
)
def test_a_stand_in_has_the_form_of_what_it_stands_for(slot: str, value: str, form: str) -> None:
    case = redacted({slot: value}, f"It's {value}, please.")
    new = str(case.facts[slot].value)
    assert new != value
    assert re.fullmatch(form, new)
    assert case.lines[0].text == f"It's {new}, please."


def test_what_is_checked_by_a_digit_can_be_checked_still_and_a_number_stays_one() -> None:
    facts: dict[str, object] = {"iban": "DE89370400440532013000", "card": 4111111111111111, "gate": 4417}
    new = {slot: str(fact.value) for slot, fact in redacted(facts).facts.items()}
    moved = new["iban"][4:] + new["iban"][:4]
    assert int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(new["card"])]
    assert sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0
    assert {slot: len(text) for slot, text in new.items()} == {"iban": 22, "card": 16, "gate": 4}
    assert not set(new.values()) & {str(value) for value in facts.values()}


def test_a_code_without_its_signs_a_date_in_words_and_an_address_without_its_town_are_found_too() -> None:
    facts: dict[str, object] = {"gate": "4417#", "born": "1987-04-12", "home": "17 Rosenweg, Berlin"}
    case = redacted(facts, "4417 pound", "Born April 12th, 1987, 12.04.1987 that is.", "It's 17 Rosenweg in Berlin.")
    text = " ".join(line.text for line in case.lines)
    year = str(case.facts["born"].value)[:4]
    assert not re.search("4417|1987|April 12|Rosenweg", text)
    assert re.fullmatch(rf"\d{{4}} pound Born \w+ [12]\d(th|st|nd|rd), {year}, [12]\d\.\d\d\.{year} .*", text)


def test_values_within_values_and_what_a_tool_said_are_looked_through() -> None:
    case = CaseFile(
        case_schema=CASE_SCHEMA,
        flow="taps",
        name="stuck",
        broke=CaseFailure("look_up", "tool error", None, "no customer Inge Tamm, +49 171 2345678"),
        facts={"who": CaseFact({"name": "Inge Tamm", "phones": ["0171 2345678"], "pets": 2})},
        lines=[CaseLine("Inge Tamm, 0171 2345678.")],
    )
    told = with_stand_ins(case, {})
    who = told.facts["who"].value
    assert told.lines[0].text == f"{who['name']}, {who['phones'][0]}."
    assert (len(who["name"].split()), who["pets"]) == (2, 2)
    assert not re.search("Inge|Tamm|2345678", f"{told}")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("ask_name", "Inge"),
        ("ask_name", "Inge Tamm."),
        ("collect_name", "Yes, I'm Inge. From next door."),
        (None, "Hi, my name is Inge, and I have a leak."),
        ("greeting", "My name's Inge."),
    ],
)
def test_a_name_that_no_slot_holds_is_found_where_it_is_told(state: str | None, said: str) -> None:
    lines = [CaseLine(said, state), CaseLine("Inge again.", "greeting")]
    told = with_stand_ins(CaseFile(case_schema=CASE_SCHEMA, flow="taps", name="stuck", lines=lines), {})
    assert not any("Inge" in line.text or "Tamm" in line.text for line in told.lines)


@pytest.mark.parametrize("said", ["Yes", "Thanks.", "it is fine", "Doesn't matter to me"])
def test_what_is_no_name_stays_where_one_is_asked_for(said: str) -> None:
    lines = [CaseLine(said, "ask_name")]
    told = with_stand_ins(CaseFile(case_schema=CASE_SCHEMA, flow="taps", name="stuck", lines=lines), {})
    assert told.lines[0].text == said


def test_a_number_that_is_said_in_another_way_is_the_same_number() -> None:
    case = redacted({"phone": "512-867-5309"}, "That's 512 867 5309.")
    assert case.lines[0].text == f"That's {case.facts['phone'].value}."


def test_what_only_a_pattern_finds_can_still_be_said() -> None:
    case = redacted({}, "Write to inge@firm.de, card 4111 1111 1111 1111, key sk-abcdefghijklmnop1234.")
    text = case.lines[0].text
    assert not re.search(r"inge|firm|4111|abcdefgh|\[", text)
    assert re.fullmatch(r"Write to \S+@\S+\.example, card \d{4} \d{4} \d{4} \d{4}, key \S{23}\.", text)


def test_what_points_at_nobody_stays() -> None:
    case = redacted({"tap": "kitchen", "unit": "4", "pets": 0, "urgent": True}, "Four taps, in 4, for 3 days.")
    assert {slot: fact.value for slot, fact in case.facts.items()} == {
        "tap": "kitchen",
        "unit": "4",
        "pets": 0,
        "urgent": True,
    }
    assert case.lines[0].text == "Four taps, in 4, for 3 days."


def test_the_same_call_always_gets_the_same_stand_ins() -> None:
    facts: dict[str, object] = {"name": "Inge Tamm", "phone": "512-867-5309"}
    assert redacted(facts, "Inge Tamm, 512-867-5309") == redacted(facts, "Inge Tamm, 512-867-5309")


@given(value=st.text(), said=st.lists(st.text(), max_size=3))
def test_any_words_can_be_redacted(value: str, said: list[str]) -> None:
    facts: dict[str, object] = dict.fromkeys(POOLS, value)
    assert len(redacted(facts, *said).lines) == len(said)


@given(name=st.from_regex(r"[A-Z][a-z]{3,8}qx [A-Z][a-z]{3,8}xq", fullmatch=True))
def test_no_part_of_a_name_is_left(name: str) -> None:
    case = redacted({"name": name}, f"I'm {name}.", name.split()[0], f"Mrs {name.split()[1]}, yes")
    assert not any(part in line.text for part in name.split() for line in case.lines)
