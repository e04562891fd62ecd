"""Who is let in: whoever names the server rightly and brings its key, and nobody else."""

from __future__ import annotations

import pytest

from tests.surface.tui import Admission, Asked, Keys

ORIGIN = "http://127.0.0.1:8123"
HOST = "127.0.0.1:8123"
TOKEN, COOKIE = "the token", "the cookie"


@pytest.fixture
def admission() -> Admission:
    """An admission whose token was swapped for its cookie."""
    return Admission(ORIGIN, Keys(TOKEN, COOKIE, is_spent=True))


@pytest.mark.parametrize("path", ["/", "/v/flows", "/static/js/textual.js", "/download/key", "/nowhere"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_cookie_opens_everything_but_the_connection(admission: Admission, method: str, path: str) -> None:
    assert admission.refusal(Asked(method, path, [HOST], cookie=COOKIE)) is None


def test_the_connection_needs_the_origin_as_well(admission: Admission) -> None:
    assert admission.refusal(Asked("GET", "/ws", [HOST], [ORIGIN], cookie=COOKIE)) is None


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (Asked("GET", "/", [HOST]), 403),
        (Asked("GET", "/", [HOST], cookie="the wrong one"), 403),
        (Asked("GET", "/", [HOST], cookie="cöökie"), 403),
        (Asked("GET", "/", [HOST], token="the wrong one"), 403),
        (Asked("GET", "/", [HOST], token=TOKEN), 403),
        (Asked("GET", "/static/js/textual.js", [HOST]), 403),
        (Asked("GET", "/download/key", [HOST]), 403),
        (Asked("GET", "/ws", [HOST], [ORIGIN]), 403),
        (Asked("GET", "/ws", [HOST], [ORIGIN], token=TOKEN), 403),
        (Asked("GET", "/ws", [HOST], cookie=COOKIE), 403),
        (Asked("GET", "/ws", [HOST], ["null"], cookie=COOKIE), 403),
        (Asked("GET", "/ws", [HOST], ["https://evil.example"], cookie=COOKIE), 403),
        (Asked("GET", "/ws", [HOST], ["http://127.0.0.1:8124"], cookie=COOKIE), 403),
        (Asked("GET", "/ws", [HOST], [f"{ORIGIN}.evil.example"], cookie=COOKIE), 403),
        (Asked("GET", "/ws", [HOST], [ORIGIN, "https://evil.example"], cookie=COOKIE), 403),
        (Asked("GET", "/", [], cookie=COOKIE), 403),
        (Asked("GET", "/", ["evil.example"], cookie=COOKIE), 403),
        (Asked("GET", "/", ["127.0.0.1"], cookie=COOKIE), 403),
        (Asked("GET", "/", ["127.0.0.1:8124"], cookie=COOKIE), 403),
        (Asked("GET", "/", [HOST, HOST], cookie=COOKIE), 403),
        (Asked("GET", "/", [HOST, "evil.example"], cookie=COOKIE), 403),
        (Asked("POST", "/", [HOST], cookie=COOKIE), 405),
        (Asked("PUT", "/v/flows", [HOST], cookie=COOKIE), 405),
        (Asked("OPTIONS", "/ws", [HOST], [ORIGIN], cookie=COOKIE), 405),
    ],
)
def test_everything_else_is_refused(admission: Admission, asked: Asked, status: int) -> None:
    refusal = admission.refusal(asked)
    assert refusal is not None
    assert refusal.status == status
    assert not any(secret in refusal.message for secret in (TOKEN, COOKIE))


def test_the_token_opens_a_page_once_and_nothing_else() -> None:
    keys = Keys()
    admission = Admission(ORIGIN, keys)
    for path, method in (("/static/js/textual.js", "GET"), ("/ws", "GET"), ("/", "HEAD")):
        assert admission.refusal(Asked(method, path, [HOST], [ORIGIN], token=keys.token)) is not None
    assert admission.refusal(Asked("GET", "/", [HOST], cookie=keys.cookie)) is not None, "nobody was given it so far"
    assert admission.refusal(Asked("GET", "/", [HOST], token=keys.token)) is None
    assert keys.swap("the wrong one") is None
    assert keys.swap(keys.token) == keys.cookie
    assert keys.swap(keys.token) is None
    assert admission.refusal(Asked("GET", "/", [HOST], cookie=keys.cookie)) is None


def test_keys_are_long_and_never_the_same() -> None:
    keys = [key for _ in range(20) for key in (Keys().token, Keys().cookie)]
    assert len(set(keys)) == len(keys)
    assert min(map(len, keys)) >= 43
