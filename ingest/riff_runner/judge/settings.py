"""Read judges from the settings file, and from presets that need no description."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riff_runner.judge.protocol import ConversationName, Judge, Misconfigured, Rubric, Signature, Usage
from riff_runner.judge.retry import RetryPolicy
from riff_store.errors import UsageError, meant

if TYPE_CHECKING:
    from riff_runner.judge.replay import ReplayJudge

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "gemini": {
        "kind": "openai",
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai/",
        "model": "gemini-2.5-flash",
        "key_variable": "GEMINI_API_KEY",
        "extra": {"temperature": 0},
    },
    "dashscope": {
        "kind": "openai",
        "base_url": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "model": "qwen-plus",
        "key_variable": "DASHSCOPE_API_KEY",
        "extra": {"temperature": 0},
    },
    "openai": {
        "kind": "openai",
        "base_url": "https://api.openai.com/v1",
        "model": "gpt-5-mini",
        "key_variable": "OPENAI_API_KEY",
    },
}

AT_ONCE = 4
TRIES = 5
_MILLION = 1_000_000
_EVERY_KIND: Mapping[str, type] = {
    "kind": str, "preset": str, "rubric": str, "concurrency": int, "timeout": float, "tries": int,
    "price_input": float, "price_output": float, "currency": str,
}  # fmt: skip
_KINDS: Mapping[str, Mapping[str, type]] = {
    "openai": {"base_url": str, "model": str, "key_variable": str, "json_mode": bool, "extra": dict},
    "command": {"argv": list, "model": str, "environment": list},
    "replay": {"path": str, "recorded_as": str},
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "openai": ("base_url", "model"), "command": ("argv",), "replay": ("path",),
}  # fmt: skip
_TIMEOUTS: Mapping[str, float] = {"openai": 60.0, "command": 180.0, "replay": 60.0}
_WORDS: Mapping[type, str] = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number", dict: "a table",
    list: "a list of text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prices:
    """Describe what a million tokens cost; `None` if the settings do not have it."""

    input: float | None = None
    output: float | None = None
    currency: str = "USD"

    def cost(self, usage: Usage) -> float | None:
        """Return what was spent; `None` if a price is not known."""
        if self.input is None or self.output is None:
            return None
        return (usage.input * self.input + usage.output * self.output) / _MILLION


@dataclass(frozen=True)
class JudgeSettings:
    """Describe a judge's description, checked; `base` is the directory that relative paths in it start from."""

    name: str
    kind: str
    values: Mapping[str, Any]
    base: Path
    rubric: Rubric
    retry_policy: RetryPolicy
    at_once: int
    prices: Prices

    def sign(self, call: ConversationName) -> Signature | None:
        """Return how a verdict on a call will be signed, `None` if there will be none; it needs no key."""
        if self.kind == "replay":
            return self._replay.signature(call)
        return Signature(self.values.get("model"), self.rubric.prompt_hash)

    def expect(self, calls: Iterable[ConversationName]) -> None:
        """Name all calls that there are, since what was recorded of an id that several of them have may be of any."""
        if self.kind == "replay":
            self._replay.expect(calls)

    def judge(self, environ: Mapping[str, str]) -> Judge:
        """Return the judge itself; raise `Misconfigured`, also where its key is not in the environment."""
        values = self.values
        if self.kind == "command":
            from riff_runner.judge.command import CommandJudge

            seen = _environment(values.get("environment"), environ)
            return CommandJudge(values["argv"], seen)
        if self.kind == "replay":
            return self._replay
        from riff_runner.chat.endpoint import Endpoint
        from riff_runner.judge.openai import OpenAIJudge

        endpoint = Endpoint(
            values["base_url"],
            values["model"],
            _key(values.get("key_variable"), environ),
            values.get("key_variable"),
            values.get("extra", {}),
        )
        return OpenAIJudge(endpoint, self.retry_policy.timeout, json_mode=values.get("json_mode", True))

    @cached_property
    def _replay(self) -> ReplayJudge:
        from riff_runner.judge.replay import ReplayJudge

        path = self.base / Path(self.values["path"]).expanduser()
        if not path.exists():
            raise Misconfigured(f"path: there is no {path}")
        return ReplayJudge([path], self.values.get("recorded_as", self.name))


def judge_settings(name: str, tables: Mapping[str, Any], base: Path) -> JudgeSettings:
    """Return the judge of a name: as `[judges.NAME]` sets it, on top of the preset it names or is named like.

    Raises `Misconfigured`.
    """
    table = tables.get(name, {})
    if not isinstance(table, Mapping):
        raise Misconfigured("it has to be a table")
    preset = table.get("preset", name if table.get("kind", "openai") == "openai" else None)
    if "preset" in table and preset not in PRESETS:
        raise Misconfigured(f"there is no preset {preset!r}; {meant(preset, PRESETS)}")
    if name not in tables and name not in PRESETS:
        known = sorted({*PRESETS, *tables})
        raise Misconfigured(f"it is neither a preset nor in the settings file; there are {', '.join(known)}")
    values = {**PRESETS.get(str(preset), {}), **table}
    kind = str(values.get("kind"))
    if kind not in _KINDS:
        raise Misconfigured(f"kind has to be one of {', '.join(_KINDS)}")
    _check(values, kind)
    return JudgeSettings(
        name=name,
        kind=kind,
        values=values,
        base=base,
        rubric=_rubric(values.get("rubric"), base),
        retry_policy=RetryPolicy(float(values.get("timeout", _TIMEOUTS[kind])), values.get("tries", TRIES)),
        at_once=values.get("concurrency", AT_ONCE),
        prices=Prices(values.get("price_input"), values.get("price_output"), values.get("currency", "USD")),
    )


def _check(values: Mapping[str, Any], kind: str) -> None:
    known = {**_EVERY_KIND, **_KINDS[kind]}
    for key, value in values.items():
        wanted = known.get(key)
        if wanted is None:
            raise Misconfigured(f"unknown key {key!r} for kind {kind}; {meant(key, sorted(known))}")
        if not _fits(value, wanted):
            raise Misconfigured(f"{key} must be {_WORDS[wanted]}")
    for key in _REQUIRED[kind]:
        if not values.get(key):
            raise Misconfigured(f"{key} is missing")
    for key in ("concurrency", "timeout", "tries"):
        if key in values and not 0 < values[key] <= 86_400:
            raise Misconfigured(f"{key} must be above 0")


def _fits(value: Any, wanted: type) -> bool:
    if wanted is float:
        return type(value) in (int, float) and math.isfinite(value) and value >= 0
    if wanted is list:
        return type(value) is list and all(type(part) is str for part in value)
    return type(value) is wanted


def _rubric(path: str | None, base: Path) -> Rubric:
    if path is None:
        return Rubric()
    file = base / Path(path).expanduser()
    try:
        criteria = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Misconfigured(f"rubric {file} cannot be read: {reason}") from error
    if not criteria.strip():
        raise Misconfigured(f"rubric {file} is empty")
    return Rubric(criteria)


def _environment(names: Sequence[str] | None, environ: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return what a program gets to see: what every program gets and the variables of these names, `None` for all."""
    if names is None:
        return None
    from riff_runner.processes.child_process import environment_of

    try:
        return environment_of(names, environ, option="environment")
    except UsageError as error:
        raise Misconfigured(error.message) from None


def _key(variable: str | None, environ: Mapping[str, str]) -> str | None:
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        raise Misconfigured(f"its key is expected in ${variable}, which is not set")
    return key
