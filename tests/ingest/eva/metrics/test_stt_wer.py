"""How much of the caller's words was got wrong (10.6)."""

from __future__ import annotations

import builtins
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eva_calls import NO_FILES, call, parts_of
from tests.surface.ingest import MetricScore, TurnErrors, stt_wer, turn_errors

pytest.importorskip("jiwer")
pytest.importorskip("whisper_normalizer")

from tests.surface.ingest import normalised_english


def wer(*turns: tuple[str | None, str | None], **others: Any) -> MetricScore:
    """The score of turns 1, 2, …: what was meant, and what was heard."""
    meant = {turn: texts[0] for turn, texts in enumerate(turns, start=1)}
    heard = {turn: texts[1] for turn, texts in enumerate(turns, start=1)}
    return stt_wer(call(intended_user_turns=meant, transcribed_user_turns=heard, **others), NO_FILES)


def test_errors_of_all_turns_are_counted_together() -> None:
    score = wer(("two rolls and a cake", "two roles and cake"), ("thanks a lot", "well thanks a lot"))
    assert (score.score, score.normalized_score) == (0.375, 0.625)
    assert score.details == {
        "wer": 0.375,
        "accuracy": 0.625,
        "language": "en",
        "use_cer": False,
        "num_turns": 2,
        "per_turn_wer": {1: 0.4, 2: 0.333},
        "per_turn_errors": {
            1: {"substitutions": [{"expected": "rolls", "actual": "roles"}], "deletions": ["a"], "insertions": []},
            2: {"substitutions": [], "deletions": [], "insertions": ["well"]},
        },
        "error_summary": {
            "top_substitutions": [{"error": "rolls → roles", "count": 1}],
            "top_deletions": [{"word": "a", "count": 1}],
            "top_insertions": [],
        },
        "total_substitutions": 1,
        "total_deletions": 1,
        "total_insertions": 1,
        "reference_words": 8,
    }
    assert parts_of(score) == {"substitution_rate": 0.125, "deletion_rate": 0.125, "insertion_rate": 0.125}
    assert (score.sub_metrics or {})["deletion_rate"].details == {"count": 1, "reference_words": 8}


def test_adjacent_errors_of_a_kind_are_one_item() -> None:
    score = wer(("please bake me four rolls for tomorrow morning", "please take my rolls for tomorrow morning or so"))
    errors = score.details["per_turn_errors"][1]
    assert errors["insertions"] == ["or so"]
    assert score.details["total_insertions"] == 2


def test_labels_are_taken_out_of_both_texts() -> None:
    score = wer(
        ("[user interrupts] Two rolls [speaker likely cut itself off] please", "two [a [b] rolls please ]["),
        ("[only a mark]", "rolls"),
        ("rolls", "[pause] "),
        ("rolls", None),
    )
    assert (score.score, score.details["num_turns"], score.details["reference_words"]) == (0.0, 1, 3)


def test_without_texts_it_is_an_error() -> None:
    for score in (wer(), wer(("", "rolls"))):
        assert (score.score, score.value) == (0.0, None)
        assert score.error
    assert stt_wer(call(intended_user_turns={1: "x"}, transcribed_user_turns={2: "x"}), NO_FILES).error


def test_a_turn_of_which_nothing_is_left_counts_what_was_added() -> None:
    """Nothing meant and nothing heard is no error; what was heard all the same is one a word."""
    score = wer(("uh", "hmm"), ("uh", "two rolls"))
    assert score.details["per_turn_wer"] == {1: 0.0, 2: 2.0}
    assert (score.score, score.normalized_score, score.sub_metrics) == (2.0, 0.0, {})


def test_only_english_is_computed() -> None:
    for language in ("fr", "ja", "zh", "ko"):
        score = wer(("x", "x"), language=language)
        assert (score.score, score.skipped, score.error) == (None, True, None)
    assert wer(("rolls", "rolls"), language="en-US").score == 0.0


def test_without_the_packages_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    stt_wer_module = sys.modules[stt_wer.__module__]

    real = builtins.__import__

    def without(name: str, *arguments: Any, **others: Any) -> Any:
        if name.partition(".")[0] in ("jiwer", "whisper_normalizer"):
            raise ImportError(name)
        return real(name, *arguments, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    stt_wer_module._whisper.cache_clear()
    score = wer(("rolls", "rolls"))
    stt_wer_module._whisper.cache_clear()
    assert (score.score, score.value, score.skipped) == (None, None, True)
    assert score.error is not None
    assert score.error.endswith(" -m pip install jiwer whisper-normalizer")


def test_hostile_texts_are_compared_or_refused_soon() -> None:
    """Had they to be looked at by the square of their length, this would not end."""
    assert wer(("[" * 1_000_000, "x")).error
    assert wer(("[]" * 500_000 + "rolls", "rolls")).score == 0.0
    assert wer(("(" * 10_000, "<" * 10_000)).error is None


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("Hello, World!", "hello world"),
        ("first", "one st"),
        ("the 1st and the 21st", "the one st and the 21st"),
        ("twenty first of march", "21st of march"),
        ("1", "one"),
        ("A B C", "abc"),
        ("A B", "a b"),
        ("a b c d", "abcd"),
        ("ZK dash 3 FF", "zk 3 ff"),
        ("dash it", "dash it"),
        ("ZK-3FF", "zk 3 ff"),
        ("well-known", "well known"),
        ("2026-03-25", "2026 3 25"),
        ("1,250 rolls, please", "1250 rolls please"),
        ("seven,eight", "7 8"),
        ("007", "7"),
        ("000", "0"),
        ("I\u2019m", "i am"),
        ("I`m", "i am"),
        ("caf\\u00e9", "cafe"),
        ("café \\u00e9", "cafe u 0 e 9"),
        ("$5.50", "$550"),
        ("colour", "color"),
        ("", ""),
        (" , ,", ""),
    ],
)
def test_english_is_evened_out(text: str, normalised: str) -> None:
    assert normalised_english(text) == normalised


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)


def by_the_page(reference: list[str], found: list[str]) -> tuple[int, int, int]:
    """Substitutions, deletions and insertions by the page's way back through the table of distances."""
    start = 0
    while start < min(len(reference), len(found)) and reference[start] == found[start]:
        start += 1
    reference, found = reference[start:], found[start:]
    while reference and found and reference[-1] == found[-1]:
        reference, found = reference[:-1], found[:-1]
    table = [[i + j if 0 in (i, j) else 0 for j in range(len(found) + 1)] for i in range(len(reference) + 1)]
    for i in range(1, len(reference) + 1):
        for j in range(1, len(found) + 1):
            same = reference[i - 1] == found[j - 1]
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (not same))
    i, j = len(reference), len(found)
    counts = {"substituted": 0, "deleted": 0, "inserted": 0}
    while i and j:
        if table[i][j] == table[i - 1][j] + 1:
            counts["deleted"] += 1
            i -= 1
        elif table[i][j - 1] == table[i - 1][j - 1] - 1:
            counts["inserted"] += 1
            j -= 1
        else:
            counts["substituted"] += reference[i - 1] != found[j - 1]
            i, j = i - 1, j - 1
    return counts["substituted"], counts["deleted"] + i, counts["inserted"] + j


@given(WORDS, WORDS)
def test_errors_are_those_of_the_shortest_way_from_one_text_to_the_other(
    reference: list[str], found: list[str]
) -> None:
    errors = turn_errors(" ".join(reference), " ".join(found))
    assert (errors.substituted, errors.deleted, errors.inserted) == by_the_page(reference, found)
    assert errors.reference_words == len(reference)
    replaced = sum(len(meant.split()) for meant, _ in errors.substitutions)
    assert replaced == errors.substituted
    assert sum(len(run.split()) for run in errors.deletions) == errors.deleted
    assert sum(len(run.split()) for run in errors.insertions) == errors.inserted


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS.filter(bool)), min_size=1, max_size=4))
def test_the_rate_is_that_of_the_library(turns: list[tuple[list[str], list[str]]]) -> None:
    import jiwer

    spelled = {"a": "rolls", "b": "cake", "c": "bread", "d": "butter"}
    texts = [
        (" ".join(spelled[word] for word in meant), " ".join(spelled[word] for word in heard)) for meant, heard in turns
    ]
    wanted = jiwer.wer([meant for meant, _ in texts], [heard for _, heard in texts])
    assert wer(*texts).score == round(wanted, 3)


def test_a_rate_without_words_is_what_was_added() -> None:
    assert TurnErrors([], [], ["x y"], 0, 0, 2, 0).rate == 2.0
    assert TurnErrors([], [], [], 0, 0, 0, 0).rate == 0.0


def test_the_packages_are_loaded_only_when_words_are_compared() -> None:
    program = "import riff_ingest.eva.metrics, riff_ingest.yaml_document, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"jiwer", "whisper_normalizer", "rapidfuzz", "yaml"} & set(loaded)
