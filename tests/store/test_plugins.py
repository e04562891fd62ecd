"""What other distributions add is loaded, or left out with a sentence."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from tests.surface.store import Terminated, load_plugins, name_refusal

GROUP = "riff_tui.words"


def loading(monkeypatch: pytest.MonkeyPatch, raised: BaseException | None) -> tuple[dict[str, str], list[str]]:
    def load(point: EntryPoint) -> str:
        if raised is not None:
            raise raised
        return "yes"

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [EntryPoint("a", "words:YES", group)])
    return load_plugins(GROUP, "word", str, lambda word, others: "")


def test_objects_are_found_by_what_the_entry_point_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loading(monkeypatch, None) == ({"words:YES": "yes"}, [])


@pytest.mark.parametrize("raised", [KeyError("words"), SystemExit(7), GeneratorExit()])
def test_one_that_fails_or_exits_is_left_out(monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> None:
    found, problems = loading(monkeypatch, raised)
    assert not found
    assert problems == [f"word plug-in a (words:YES) is left out: it fails with {type(raised).__name__}"]


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), Terminated()])
def test_who_ends_the_process_ends_it(monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> None:
    with pytest.raises(type(raised)):
        loading(monkeypatch, raised)


@pytest.mark.parametrize("name", ["", "Calls", "call_log", "-x", "x-", "x y", "\x1b[31mx", "x\u202e", "x\n"])
def test_a_name_that_is_not_plain_is_refused_in_safe_words(name: str) -> None:
    refusal = name_refusal("name", [name], [])
    assert "is not plain: lower-case letters and digits, joined by -" in refusal
    assert refusal.isascii()
    assert refusal.isprintable()


def test_a_plain_name_is_refused_where_it_is_taken() -> None:
    assert name_refusal("kind", ["call-log2"], ["calls"]) == ""
    assert name_refusal("kind", ["calls"], ["calls"]) == "the kind calls is taken"
