"""Ask an endpoint for its models before a run, which costs nothing and finds a wrong address or key."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from riff_ingest.endpoint import Endpoint
from riff_ingest.http_client import HttpClient, HttpFault
from riff_ingest.runner.chat.faults import fault_of
from riff_ingest.runner.chat.protocol import EndpointGone, NoSuchModel

LONGEST_S = 15.0
MOST_NAMED = 5


async def preflight(http: HttpClient, endpoint: Endpoint, timeout: float) -> str | None:
    """Return a hint where the endpoint lists models and not the one that is meant.

    Raises `EndpointGone` where there is no server or it refuses the key. An endpoint that lists nothing, or is busy,
    may answer all the same.
    """
    try:
        async with http.request("GET", "models", min(timeout, LONGEST_S)) as answer:
            status, headers, body = answer.status, answer.headers, await answer.body()
    except HttpFault as fault:
        if fault.reached:
            return None
        hint = "see that the server runs and that the address after @ is right"
        raise EndpointGone(f"{fault.reason}: {_shown(endpoint.base_url)}", hint) from None
    if 200 <= status < 300:
        return _hint(endpoint.model, _listed(body))
    refusal = fault_of(endpoint, status, headers, body)
    if isinstance(refusal, EndpointGone) and not isinstance(refusal, NoSuchModel):
        raise refusal
    return None


def _listed(body: bytes) -> list[str]:
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return []
    models = document.get("data") if isinstance(document, dict) else None
    named = [model.get("id") for model in models if isinstance(model, dict)] if isinstance(models, list) else []
    return [name for name in named if isinstance(name, str)]


def _hint(model: str, listed: list[str]) -> str | None:
    if not listed or model in listed:
        return None
    more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
    return f"the endpoint lists {', '.join(sorted(listed)[:MOST_NAMED])}{more}, and no {model}"


def _shown(address: str) -> str:
    """Return an address without what may hold a secret."""
    return urlsplit(address)._replace(query="", fragment="").geturl()
