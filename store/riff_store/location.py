"""Show where a store is, without what only its owner may know."""

from __future__ import annotations

import re

_HOST = r"(?:\[[0-9A-Fa-f:.%]*\]|[A-Za-z0-9._~%-]*)(?::[0-9]*)?"
_REST = rf"(?:[^/?#]*@)?(?P<hosts>{_HOST}(?:,{_HOST})*)(?P<more>(?P<path>(?:/[^?#]*)?)(?:\?(?P<query>[^#]*))?(?:#.*)?)"
_HARMLESS = frozenset(
    (
        *("application_name", "channel_binding", "connect_timeout", "gssencmode", "host", "hostaddr", "mode", "port"),
        *("schema", "service", "sslmode", "target_session_attrs"),
    )
)
"""The parameters that may be shown; of others nobody knows what they hold."""

_MISWRITTEN = re.compile(
    r"(?P<begin>postgres(?:ql)?:(?!//)"
    r"|\s*(?:dbname|host|hostaddr|options|passfile|password|port|sslmode|user)\s*=|\s+service\s*=|service\s+=)",
    re.IGNORECASE,
)
"""How addresses begin that libpq or nobody takes, and that are not names of files either."""


def is_on_server(location: str) -> bool:
    """Return whether a place is an address of PostgreSQL: a URL, or the name of a service."""
    return location.startswith(("postgresql://", "postgres://", "service="))


def is_miswritten(location: str) -> bool:
    """Return whether a place was meant to be an address of PostgreSQL, but is written as none that is taken."""
    return _MISWRITTEN.match(location) is not None


def without_secrets(location: str) -> str:
    """Return the path or URL of a store as others may see it: no user, no password, no parameter that may contain one.

    Only the beginning is left of a URL in which the end of a password is unclear, and of what was meant to be an
    address.
    """
    scheme, is_url, rest = location.partition("://")
    if location.startswith("service="):
        return " ".join(word for word in location.split() if word.partition("=")[0] in _HARMLESS)
    miswritten = _MISWRITTEN.match(location)
    if miswritten is not None:
        return f"{miswritten['begin'].strip()}…"
    if not is_url:
        return location
    found = re.fullmatch(_REST, rest, re.DOTALL)
    # An @ behind what looks like the host may be the end of a password that has a slash or a question mark.
    is_file = found is not None and scheme in ("file", "sqlite") and not found["hosts"]
    if found is None or ("@" in found["more"] and not is_file):
        return f"{scheme}://…"
    kept = [part for part in re.split("[&;]", found["query"] or "") if part.partition("=")[0] in _HARMLESS]
    return f"{scheme}://{found['hosts']}{found['path']}{'?' if kept else ''}{'&'.join(kept)}"
