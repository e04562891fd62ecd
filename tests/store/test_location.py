"""Where a store is can be shown to anybody: no password is in what is shown, however badly a URL is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import StoreError, open_store, without_secrets

SECRET = "hunter2"
ODD = st.text(alphabet="ab12:/?#@&;=%[]. \n", max_size=6)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("nightly.db", "nightly.db"),
        ("/data/me@work/a:b.db", "/data/me@work/a:b.db"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://bob:hunter2@host:5432/db", "postgresql://host:5432/db"),
        ("postgresql://bob@host/db", "postgresql://host/db"),
        ("postgresql://bob:a@b@host/db", "postgresql://host/db"),
        ("postgresql://host/db?password=hunter2&sslmode=require", "postgresql://host/db?sslmode=require"),
        ("postgresql://host/db?sslmode=require&user=bob&%70assword=hunter2", "postgresql://host/db?sslmode=require"),
        ("postgresql:///db?service=evals&passfile=/x", "postgresql:///db?service=evals"),
        ("postgresql://[::1]:5432,other/db", "postgresql://[::1]:5432,other/db"),
        ("postgresql://bob:hunter/2@host/db", "postgresql://…"),
        ("postgresql://bob:1?hunter2@host/db", "postgresql://…"),
        ("sqlite:////data/me@work/a.db", "sqlite:////data/me@work/a.db"),
        ("host=h dbname=db password=hunter2", "host=…"),
        ("password = hunter2", "password =…"),
        ("postgresql:/bob:hunter2@host/db", "postgresql:…"),
        ("./host=h.db", "./host=h.db"),
    ],
)
def test_what_is_shown_of_a_location(location: str, shown: str) -> None:
    assert without_secrets(location) == shown


@given(
    ODD,
    ODD,
    st.sampled_from(["host", "host:5432", "[::1]", "a,b"]),
    st.sampled_from(["", "/db", "/db?sslmode=require"]),
)
def test_no_password_is_shown_whatever_stands_in_it(user: str, around: str, host: str, rest: str) -> None:
    for password in (f"{around}{SECRET}", f"{SECRET}{around}", f"{around}{SECRET}{around}"):
        assert SECRET not in without_secrets(f"postgresql://{user}:{password}@{host}{rest}")


@given(st.sampled_from(["password", "PASSWORD", "sslpassword", "token", "options", "p%61ssword", ""]), ODD)
def test_no_parameter_that_may_hold_a_secret_is_shown(name: str, around: str) -> None:
    for query in (f"{name}={SECRET}", f"sslmode=require&{name}={around}{SECRET}", f"{name}={SECRET};sslmode=require"):
        assert SECRET not in without_secrets(f"postgresql://host/db?{query}")


@given(ODD, ODD)
def test_what_is_shown_shows_itself(one: str, other: str) -> None:
    shown = without_secrets(f"postgresql://{one}{other}")
    assert without_secrets(shown) in (shown, "postgresql://…")


def test_an_error_names_no_password() -> None:
    with pytest.raises(StoreError) as caught:
        open_store(f"postgresql://bob:{SECRET}@host/db?password={SECRET}")
    assert SECRET not in str(caught.value)
    assert "postgresql://host/db" in str(caught.value)


@pytest.mark.parametrize("location", [f"host=h dbname=db password={SECRET}", f"Postgresql:/bob:{SECRET}@host/db"])
def test_an_address_that_is_written_otherwise_is_no_file(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError) as caught:
        open_store(location, write=True, create=True)
    assert SECRET not in str(caught.value)
    assert "write postgresql://HOST/DATABASE" in str(caught.value)
