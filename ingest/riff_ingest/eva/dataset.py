"""Read the dataset that a run plays: records by id, with their placeholders filled for the language that was spoken."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.sources.lenient_json import clean, loads
from riff_ingest.sources.lines import BrokenInput, read_lines, read_whole

_LOCATION = re.compile(r"<LOC:([^<>]*)>")


def records_of(path: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a dataset by id, from a JSON array or from JSON lines; raise `BrokenInput`."""
    defects: Counter[str] = Counter()
    data = read_whole(path, "log_mib")
    if data.lstrip()[:1] == b"[":
        found = clean(loads(data, defects, what="file"), defects)
    else:
        found = [clean(_line(number, line, defects), defects) for number, line in read_lines(path)]
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    return {str(each["id"]): each for each in found if isinstance(each, dict) and "id" in each}


def _line(number: int, line: bytes, defects: Counter[str]) -> Any:
    try:
        return loads(line, defects)
    except BrokenInput as problem:
        raise BrokenInput(problem.reason, number) from problem


def aliases_folder(path: Path) -> list[Path]:
    """Return the files in `<domain>_aliases` beside a dataset, by name."""
    folder = path.with_name(path.name.split(".")[0].removesuffix("_dataset") + "_aliases")
    return sorted(folder.glob("*.json")) if folder.is_dir() else []


def aliases_beside(path: Path) -> list[dict[str, Any]]:
    """Return what the files beside a dataset say, in the order of their names."""
    found = []
    for file in aliases_folder(path):
        defects: Counter[str] = Counter()
        document = clean(loads(read_whole(file, "log_mib"), defects, what="file"), defects)
        found += [each for each in (document if isinstance(document, list) else [document]) if isinstance(each, dict)]
    return found


def filled(record: Mapping[str, Any], language: str, aliases: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return a record with names, telephone numbers and places for a language in place of its placeholders.

    Raises `BrokenInput` where the record has names for other languages only.
    """
    aliases = list(aliases)
    fill = _filler(record, language)
    found: dict[str, Any] = _everywhere(dict(record), fill)
    if "user_goal" in found:
        found["user_goal"] = _everywhere(found["user_goal"], lambda text: _located(text, language, aliases))
    truth = found.get("ground_truth")
    if aliases and isinstance(truth, dict) and "expected_scenario_db" in truth:
        truth["expected_scenario_db"] = _with_aliases(truth["expected_scenario_db"], language, aliases)
    return found


def _filler(record: Mapping[str, Any], language: str) -> Callable[[str], str]:
    overrides = record.get("culture_overrides")
    if not isinstance(overrides, Mapping) or not overrides:
        return lambda text: text
    own = overrides.get(language)
    if not isinstance(own, Mapping):
        raise BrokenInput(f"the record has no names for the language {language}")
    others = record.get("romanized_culture_overrides")
    romanized = others.get(language) if isinstance(others, Mapping) else None
    romanized = romanized if isinstance(romanized, Mapping) else own
    wanted: list[tuple[str, Any]] = [
        ("<FIRST_NAME_ROMANIZED>", _lower(romanized.get("first_name"))),
        ("<LAST_NAME_ROMANIZED>", _lower(romanized.get("last_name"))),
        ("<FIRST_NAME>", own.get("first_name")),
        ("<LAST_NAME>", own.get("last_name")),
        ("<PHONE>", own.get("phone")),
        ("<COMPANION_FIRST_NAME_ROMANIZED>", _lower(_companion(romanized) or _companion(own))),
        ("<COMPANION_FIRST_NAME>", _companion(own)),
    ]
    replacements = [(mark, value) for mark, value in wanted if isinstance(value, str)]

    def fill(text: str) -> str:
        for mark, value in replacements:
            text = text.replace(mark, value)
        return text

    return fill


def _companion(names: Mapping[str, Any]) -> Any:
    companion = names.get("companion")
    return companion.get("first_name") if isinstance(companion, Mapping) else None


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _located(text: str, language: str, aliases: Iterable[Mapping[str, Any]]) -> str:
    def place(found: re.Match[str]) -> str:
        name = found[1]
        if language == "en":
            return name
        for alias in aliases:
            if alias.get("name") == name and (translations := _translations(alias, language)):
                return translations[0]
        return name

    return _LOCATION.sub(place, text)


def _with_aliases(value: Any, language: str, aliases: Iterable[Mapping[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_with_aliases(item, language, aliases) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _with_aliases(item, language, aliases) for key, item in value.items()}
    for alias in aliases:
        if "name" in value and alias.get("name") == value["name"]:
            names = [*_texts(alias.get("base")), *_translations(alias, language)]
            found["name_aliases"] = list(dict.fromkeys(names))
    return found


def _translations(alias: Mapping[str, Any], language: str) -> list[str]:
    translations = alias.get("translations")
    return _texts(translations.get(language)) if isinstance(translations, Mapping) else []


def _texts(value: Any) -> list[str]:
    """Return the texts of a list; one that stands alone is a list of one."""
    found = value if isinstance(value, list) else [value]
    return [text for text in found if isinstance(text, str)]


def _everywhere(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_everywhere(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _everywhere(item, change) for key, item in value.items()}
    return value
