"""What an explorer behind a page sees of the server's environment."""

from __future__ import annotations

import pytest

from tests.surface.tui import child_environment, is_in_browser, is_passed_on


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "LANG", "LC_ALL", "TZ", "XDG_STATE_HOME", "RIFF_TUI_AUTHOR", "RIFF_TUI_CONFIG", "NO_COLOR"),
        *("PGSERVICE", "PGSERVICEFILE", "PGPASSFILE"),
    ],
)
def test_what_an_explorer_needs_reaches_it(name: str) -> None:
    assert is_passed_on(name)


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"),
        *("SSH_CONNECTION", "SSH_AUTH_SOCK", "TMUX", "TERM", "COLUMNS", "TEXTUAL_DRIVER", "TEXTUAL_LOG"),
        *("LD_PRELOAD", "PYTHONSTARTUP", "PYTHONINSPECT", "PATHS"),
    ],
)
def test_nothing_else_does(name: str) -> None:
    assert not is_passed_on(name)


def test_an_explorer_knows_that_it_is_in_a_browser_and_how_large_its_page_is() -> None:
    found = child_environment({"HOME": "/h", "PGPASSWORD": "x", "TERM": "dumb"}, width=90, height=20)
    assert is_in_browser(found)
    assert not is_in_browser({})
    assert (found["HOME"], found["COLUMNS"], found["ROWS"]) == ("/h", "90", "20")
    assert found["TERM"] != "dumb"
    assert "PGPASSWORD" not in found
