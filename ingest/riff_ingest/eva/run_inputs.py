"""Find what a run was made with and does not contain itself: the dataset that it played and the file of its agent."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from riff_ingest.eva.history import Warnings
from riff_ingest.eva.turns import PipelineType
from riff_ingest.lenient_json import clean, loads
from riff_ingest.lines import BrokenInput, digest, read_lines, read_whole
from riff_ingest.yaml_document import load_yaml

LEVELS = 3
"""How many directories above a run its configuration's paths are looked for in."""

_Read = TypeVar("_Read")


class RunInputs(NamedTuple):
    """Describe the paths of the dataset and of the agent's file, `None` if there is none."""

    dataset: str | None = None
    agent: str | None = None

    def or_near(self, run: Path | None, configuration: Configuration) -> RunInputs:
        """Return these, and those that the run's configuration names if none is given."""
        return RunInputs(
            self.dataset or near(run, configuration.dataset_path),
            self.agent or near(run, configuration.agent_config_path),
        )

    def digest(self) -> str:
        """Return a hash of the content of these files, empty without any."""
        paths = [path for path in self if path]
        if self.dataset:
            paths += map(str, aliases_folder(Path(self.dataset)))
        return digest_of(paths)


NONE_GIVEN = RunInputs()


def near(run: Path | None, stored: str | None) -> str | None:
    """Return the file that a path in a configuration means, from one of the directories above the run.

    Only regular files below that directory: no absolute path, none with `..` and none through a link out of it.
    """
    if run is None or not stored or "\0" in stored or "\\" in stored:
        return None
    wanted = PurePosixPath(stored)
    if wanted.is_absolute() or ".." in wanted.parts:
        return None
    for base in list(run.parents)[:LEVELS]:
        path = base / wanted
        if _is_file_below(path, base):
            return str(path)
    return None


def played_record(path: str | None, record: str, language: str, warnings: Warnings) -> dict[str, Any] | None:
    """Return the dataset's record of this id with its placeholders filled.

    `None`, with a warning, if it has none.
    """
    if path is None:
        return None
    try:
        records, aliases = _cached(_dataset, path)
    except BrokenInput as problem:
        warnings.add("dataset_unreadable", problem.reason)
        return None
    found = records.get(record)
    if found is None:
        warnings.add("dataset_record_missing", f"the dataset has no record {record}")
        return None
    try:
        return filled(found, language, aliases)
    except BrokenInput:
        return found  # reading the record fails on it once more, and reports it


def agent_at(path: str | None, warnings: Warnings) -> Mapping[str, Any] | None:
    """Return what an agent's file reports, `None`, with a warning, if it cannot be read."""
    if path is None:
        return None
    try:
        return _cached(_agent, path)
    except BrokenInput as problem:
        warnings.add("agent_file_unreadable", problem.reason)
        return None


def digest_of(paths: Iterable[str]) -> str:
    """Return a hash of the content of some files, empty without any; one that cannot be read counts as such."""
    found = hashlib.sha256()
    for path in (given := list(paths)):
        try:
            found.update(_cached(_digest, path).encode())
        except BrokenInput as problem:
            found.update(problem.reason.encode())
    return found.hexdigest() if given else ""


def _is_file_below(path: Path, base: Path) -> bool:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(base))
    except (OSError, ValueError):
        return False


def _cached(read: Callable[[str, int, int], _Read], path: str) -> _Read:
    """Return what a file has, read once as long as it does not change: a run's records share it."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return read(path, 0, 0)
    return read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _dataset(path: str, mtime: int, size: int) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    return records_of(Path(path)), aliases_beside(Path(path))


@lru_cache(maxsize=64)
def _digest(path: str, mtime: int, size: int) -> str:
    return digest(Path(path))[0]


@lru_cache(maxsize=4)
def _agent(path: str, mtime: int, size: int) -> Mapping[str, Any]:
    return load_yaml(Path(path))


# Read what a run's config.json reports of the agent: its pipeline, its name, and the language that was spoken.
DEFAULT_DOMAIN = "airline"
DEFAULT_LANGUAGE = "en"
_OLD_NAMES = {"llm_model": "llm", "stt_model": "stt", "tts_model": "tts"}


@dataclass(frozen=True, slots=True)
class Configuration:
    """Keep a run's configuration as far as it is used; `from_old_key` where EVA itself overlooks the model's block."""

    pipeline_type: PipelineType = "cascade"
    agent: str = ""
    domain: str = DEFAULT_DOMAIN
    language: str = DEFAULT_LANGUAGE
    from_old_key: bool = False
    run_id: str | None = None
    commit: str | None = None
    branch: str | None = None
    dataset_path: str | None = None
    agent_config_path: str | None = None


def configuration(document: Mapping[str, Any]) -> Configuration:
    """Return what a config.json sets; what it does not set has EVA's defaults."""
    block = document.get("model")
    from_old_key = not (isinstance(block, Mapping) and block)
    if from_old_key:
        block = document.get("pipeline")
    block = block if isinstance(block, Mapping) else {}
    provenance = document.get("provenance")
    provenance = provenance if isinstance(provenance, Mapping) else {}
    return Configuration(
        pipeline_type=pipeline_type_of(block),
        agent=agent_label(block) or _joined(block.get("pipeline_parts") or document.get("pipeline_parts")),
        domain=_text(document.get("domain")) or DEFAULT_DOMAIN,
        language=_text(document.get("language")) or DEFAULT_LANGUAGE,
        from_old_key=from_old_key and bool(block),
        run_id=_text(document.get("run_id")),
        commit=_text(provenance.get("git_commit_sha")),
        branch=_text(provenance.get("git_branch")),
        dataset_path=_text(document.get("dataset_path")),
        agent_config_path=_text(document.get("agent_config_path")),
    )


def pipeline_type_of(block: Mapping[str, Any]) -> PipelineType:
    """Return the kind of pipeline that a model's block describes."""
    speech = block.get("s2s")
    if speech:
        return {"elevenlabs": "cascade", "ultravox": "audio_llm"}.get(str(speech), "s2s")  # type: ignore[return-value]
    if block.get("audio_llm"):
        return "audio_llm"
    return "s2s" if block.get("realtime_model") else "cascade"


def agent_label(block: Mapping[str, Any]) -> str:
    """Return the name of the system under test: its models, joined with a plus; empty if none is named."""
    block = {**block, **{new: block.get(new) or block[old] for old, new in _OLD_NAMES.items() if old in block}}
    if block.get("s2s"):
        parts = [_part(block, "s2s")]
    elif block.get("audio_llm"):
        parts = [_part(block, "audio_llm"), _part(block, "tts")]
    elif block.get("realtime_model"):
        parts = [_part(block, "realtime_model", "realtime")]
    else:
        parts = [_part(block, "stt"), _text(block.get("llm")) or "", _part(block, "tts")]
    return " + ".join(part for part in parts if part)


def _joined(parts: Any) -> str:
    """Return the name that a run's own list of its parts gives, for models under names that are not known here."""
    return " + ".join(filter(None, map(_text, parts.values()))) if isinstance(parts, Mapping) else ""


def _part(block: Mapping[str, Any], name: str, short: str | None = None) -> str:
    for key in (f"{name}_params", f"{short}_params"):
        params = block.get(key)
        if isinstance(params, Mapping):
            named = _text(params.get("alias")) or _text(params.get("model"))
            if named:
                return named
    return _text(block.get(name)) or ""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


# Read the dataset that a run plays: records by id, with their placeholders filled for the language that was spoken.
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
    """Return what the files beside a dataset contain, in the order of their names."""
    found = []
    for file in aliases_folder(path):
        defects: Counter[str] = Counter()
        document = clean(loads(read_whole(file, "log_mib"), defects, what="file"), defects)
        found += [each for each in (document if isinstance(document, list) else [document]) if isinstance(each, dict)]
    return found


def filled(record: Mapping[str, Any], language: str, aliases: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return a record with names, telephone numbers and places for a language in place of its placeholders.

    Raises `BrokenInput` if the record has names for other languages only.
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
    """Return the texts of a list; one that is alone is a list of one."""
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
