"""Write names and predicates as a filter expression that reads back as they are."""

from __future__ import annotations

import re
import unicodedata

from riff_store.predicates import And, InState, Not, Or, Predicate, Term
from riff_store.vocabulary import BARE_FLAGS, aspect_named, field_of, split_name
from riff_tui.text.safe_text import one_line

_PLAIN = re.compile(r"\w[\w.+@#-]*")
_ENDS_CODE = "`<"
"""A backtick ends code in a comment, and chats take `<!…>` for a command wherever it stands."""
_PIECES = re.compile(r"\\.|.", re.DOTALL)


def quote(value: str) -> str:
    """Write a name as a value of `field=`: bare where that is safe, else quoted and in printable characters."""
    value = value.encode("utf-8", "backslashreplace").decode()
    is_plain = _PLAIN.fullmatch(value) and value != "none" and one_line(value) == value
    return value if is_plain else _quoted(value)


def render(predicate: Predicate | None) -> str:
    """Write the expression of a predicate; `parse` gives the predicate back."""
    match predicate:
        case None:
            return ""
        case Term():
            return _term(predicate)
        case Not(part):
            return f"!{_grouped(part, And, Or)}"
        case And(parts):
            return " ".join(_grouped(part, And, Or) for part in parts)
        case Or(parts):
            return " | ".join(_grouped(part, Or) for part in parts)
        case InState(part):
            return f"({render(part)})"


def _grouped(predicate: Predicate, *loose: type[And | Or]) -> str:
    text = render(predicate)
    return f"({text})" if isinstance(predicate, loose) else text


def _term(term: Term) -> str:
    name = "" if term.field is None else _name(term.field)
    if term.operator == "matches":
        return f"{name}{':' if name else ''}/{_slashes_escaped(str(term.value))}/"
    if term.operator == "contains":
        value = str(term.value)
        return f"{name}:{quote(value)}" if name else _quoted(value) if value in BARE_FLAGS else quote(value)
    if term.operator in ("missing", "measured"):
        return f"{name}{'=' if term.operator == 'missing' else '!='}·"
    return f"{name}{term.operator}{_value(term)}"


def _name(name: str) -> str:
    base, suffix = split_name(name)
    return base if suffix is None else f"{base}.{quote(suffix)}"


def _value(term: Term) -> str:
    if isinstance(term.value, str):
        is_alias = term.field == "aspect" and aspect_named(term.value) != term.value
        return _quoted(term.value) if is_alias else quote(term.value)
    number = float(term.value or 0)
    if term.field is not None and field_of(term.field).kind == "flag":
        return "true" if number else "false"
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _quoted(value: str) -> str:
    text = "".join(map(_escaped, value))
    if one_line(text) != text:
        # More marks on a letter than displays leave there would be lost where a command is shown.
        text = "".join(
            _as_code(character) if unicodedata.category(character)[0] == "M" else character for character in text
        )
    return f'"{text}"'


def _slashes_escaped(text: str) -> str:
    return "".join("\\/" if piece == "/" else piece for piece in _PIECES.findall(text))


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    is_shown = character.isprintable() and character not in _ENDS_CODE and one_line(character) == character
    return character if is_shown else _as_code(character)


def _as_code(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
