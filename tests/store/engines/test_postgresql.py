"""A store on a server: what it is, who may do what with it, and what it says when it cannot be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.facts import call, put, verdict
from tests.support.postgresql_server import Server
from tests.surface.store import SCHEMA_VERSION as NOW
from tests.surface.store import (
    Interrupted,
    Interruption,
    NewerStore,
    NotAStore,
    OlderStore,
    Run,
    Store,
    StoreBusy,
    StoreError,
    StoreMissing,
    StoreReadOnly,
    examine,
    flow_cells,
    is_writable,
    migrations,
    open_store,
)
from tests.surface.store import schema as models


@pytest.fixture
def address(postgresql: Server) -> str:
    return postgresql.store()


@pytest.fixture
def filled(address: str) -> str:
    with open_store(address, write=True, create=True) as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2", errored=True)])
        put(store, "/in/h.jsonl", [verdict("c-1", 4.0)])
    return address


@pytest.fixture
def reader(postgresql: Server, filled: str) -> Iterator[str]:
    """The address of the same store for a role that may only read it."""
    schema = schema_of(filled)
    postgresql.run("DROP ROLE IF EXISTS looker")
    postgresql.run("CREATE ROLE looker LOGIN")
    postgresql.run(f"GRANT USAGE ON SCHEMA {schema} TO looker")
    postgresql.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO looker")
    yield postgresql.store(user="looker", schema=schema)
    postgresql.run("DROP OWNED BY looker")
    postgresql.run("DROP ROLE looker")


def schema_of(address: str) -> str:
    found = re.search("schema=([a-z0-9_]+)", address)
    assert found is not None
    return found[1]


def test_reading_creates_nothing_and_says_how_to_make_a_store(postgresql: Server, address: str) -> None:
    with pytest.raises(StoreMissing, match="riff-tui ingest"):
        open_store(address)
    assert not postgresql.run(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema_of(address)}'")


def test_a_new_store_is_whole_and_empty(address: str) -> None:
    with open_store(address, write=True, create=True) as store:
        assert store.is_new
        assert examine(store).wrong == []
        assert store.execute(Run.select()) == []
    with open_store(address, write=True, create=True) as store:
        assert not store.is_new


def test_two_stores_lie_side_by_side_in_a_database(postgresql: Server, filled: str) -> None:
    with open_store(postgresql.store(), write=True, create=True) as other:
        put(other, "/in/a.jsonl", [call("c-9", run="other")])
        assert other.execute(Run.select(Run.name)) == [("other",)]
    with open_store(filled) as store:
        assert store.execute(Run.select(Run.name)) == [("night-1",)]


def test_what_is_no_store_is_named_so_and_left_alone(postgresql: Server, address: str) -> None:
    schema = schema_of(address)
    postgresql.run(f"CREATE SCHEMA {schema}")
    postgresql.run(f"CREATE TABLE {schema}.invoice (n int)")
    for made in ("", f"CREATE TABLE {schema}.store (name text)"):
        if made:
            postgresql.run(made)
        with pytest.raises(NotAStore, match="not a riff-tui store"):
            open_store(address, write=True, create=True)
    found = postgresql.run(
        f"SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'"
    )
    assert sorted(str(name) for (name,) in found) == ["invoice", "store"]


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (
            "ALTER TABLE {0}.run RENAME TO kept; CREATE VIEW {0}.run AS SELECT k.* FROM {0}.kept k, pg_sleep(600)",
            "a view",
        ),
        ("ALTER TABLE {0}.store RENAME TO kept; CREATE VIEW {0}.store AS SELECT k.* FROM {0}.kept k", "a view"),
        ("CREATE RULE more AS ON INSERT TO {0}.run DO ALSO SELECT pg_sleep(600)", "rules, triggers"),
        ("ALTER TABLE {0}.run ENABLE ROW LEVEL SECURITY", "rules, triggers, policies"),
        ("CREATE TABLE {0}.more () INHERITS ({0}.run)", "or other tables on run"),
        ("ALTER TABLE {0}.run ADD CHECK (length(name) > 0)", "a check on run"),
        ("ALTER TABLE {0}.run ALTER label SET DEFAULT clock_timestamp()::text", "a column with an expression"),
        ("CREATE DOMAIN {0}.word AS text; ALTER TABLE {0}.run ALTER label TYPE {0}.word", "of a type of its own"),
        ("CREATE INDEX more ON {0}.run (lower(name))", "an index over an expression of run"),
        ("CREATE INDEX more ON {0}.run (name) WHERE length(name) > 1", "an index over an expression of run"),
    ],
)
def test_what_others_have_put_into_a_schema_is_refused_and_not_run(
    postgresql: Server, filled: str, done: str, said: str
) -> None:
    for statement in done.format(schema_of(filled)).split("; "):
        postgresql.run(statement)
    for write in (False, True):
        with pytest.raises(NotAStore, match=f"{said}.*nothing of it was read"):
            open_store(filled, write=write)


def test_a_function_beside_the_tables_is_refused_unless_it_is_of_who_may_do_all_anyway(
    postgresql: Server, filled: str
) -> None:
    made = f"{schema_of(filled)}.round(bigint)"
    postgresql.run(f"CREATE FUNCTION {made} RETURNS bigint LANGUAGE sql AS 'SELECT 1'")
    open_store(filled).close()
    postgresql.run("CREATE ROLE lender")
    try:
        postgresql.run(f"ALTER FUNCTION {made} OWNER TO lender")
        with pytest.raises(NotAStore, match="has the function round"):
            open_store(filled)
    finally:
        postgresql.run("DROP OWNED BY lender")
        postgresql.run("DROP ROLE lender")


def test_a_newer_store_is_refused_with_both_versions(postgresql: Server, filled: str) -> None:
    postgresql.run(f"UPDATE {schema_of(filled)}.store SET schema_version = {NOW + 41}")
    with pytest.raises(NewerStore, match=f"schema {NOW + 41}, this one knows {NOW}"):
        open_store(filled, write=True)


def test_an_older_store_is_migrated_by_writing_alone(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {NOW: lambda connection: connection.execute('ALTER TABLE run ADD COLUMN "color" TEXT')}
    monkeypatch.setattr(models, "SCHEMA_VERSION", NOW + 1)
    monkeypatch.setattr(migrations, "STEPS", steps)
    with pytest.raises(OlderStore, match=f"has schema {NOW}"):
        open_store(filled)
    with open_store(filled, write=True) as store:
        assert store.execute_sql("SELECT name, color FROM run") == [("night-1", None)]
        assert examine(store).wrong == []


def test_a_migration_that_fails_leaves_the_store_as_it_was(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def step(connection: object) -> None:
        raise RuntimeError("bad step")

    with monkeypatch.context() as newer:
        newer.setattr(models, "SCHEMA_VERSION", NOW + 1)
        newer.setattr(migrations, "STEPS", {NOW: step})
        with pytest.raises(RuntimeError):
            open_store(filled, write=True)
    with open_store(filled) as store:
        assert examine(store).wrong == []


def test_a_role_that_may_only_read_reads_everything_and_writes_nothing(reader: str) -> None:
    assert not is_writable(reader)
    with open_store(reader) as store:
        assert [cell.n for cell in flow_cells(store)] == [1]
        assert examine(store).wrong == []
        with pytest.raises(StoreReadOnly):
            store.execute_sql("DELETE FROM run")
    with pytest.raises(StoreReadOnly, match="may only read the store"):
        open_store(reader, write=True)


def test_the_grants_that_the_page_shows_are_enough_to_write_and_to_read(postgresql: Server, filled: str) -> None:
    schema, roles = schema_of(filled), {"riff_writer": "filler", "riff_reader": "looker"}
    page = (Path(__file__).resolve().parents[3] / "docs" / "postgresql.md").read_text("utf-8")
    granted = page.partition("```sql\n")[2].partition("```")[0]
    for statement in granted.replace("calls", "postgres").replace("SCHEMA riff ", f"SCHEMA {schema} ").split(";"):
        if statement.strip():
            postgresql.run(statement)
    try:
        for role, user in roles.items():
            postgresql.run(f"CREATE ROLE {user} LOGIN IN ROLE {role}")
        with open_store(postgresql.store(user="filler", schema=schema), write=True) as store:
            put(store, "/in/b.jsonl", [call("c-3")])
        with open_store(postgresql.store(user="looker", schema=schema)) as store:
            assert store.execute_sql("SELECT COUNT(*) FROM conversation") == [(3,)]
        with pytest.raises(StoreReadOnly):
            open_store(postgresql.store(user="looker", schema=schema), write=True)
    finally:
        for name in (*roles.values(), *roles):
            postgresql.run(f"DROP OWNED BY {name}")
            postgresql.run(f"DROP ROLE {name}")


def test_reading_cannot_write(filled: str) -> None:
    with open_store(filled) as store, pytest.raises(StoreReadOnly, match="read-only"):
        store.execute_sql("DELETE FROM run")


def test_a_writer_waits_for_another_and_gives_up_in_a_sentence(filled: str) -> None:
    with open_store(filled, write=True) as first, open_store(filled, write=True) as second:
        second.wait_at_most(0.01)
        with first.writing(), pytest.raises(StoreBusy, match="another process is writing"):
            put(second, "/in/b.jsonl", [call("c-3")])
        put(second, "/in/b.jsonl", [call("c-3")])


def test_a_reader_keeps_one_state_while_another_writes_and_notices(filled: str) -> None:
    with open_store(filled) as reader, open_store(filled, write=True) as writer:
        before, written_at = reader.change_counter(), reader.written_at()
        with reader.snapshot():
            first = reader.execute(Run.select())
            put(writer, "/in/b.jsonl", [call("c-2", run="night-2")])
            assert reader.execute(Run.select()) == first
        assert len(reader.execute(Run.select())) == 2
        assert reader.change_counter() != before
        assert written_at is not None
        assert (reader.written_at() or 0) > written_at


def test_a_read_that_was_left_ends_and_the_next_one_is_answered(filled: str) -> None:
    interruption = Interruption()

    def asked() -> object:
        with interruption.in_force(), store.snapshot():
            return store.execute_sql("SELECT pg_sleep(600)")

    with open_store(filled) as store, ThreadPoolExecutor(1) as thread:
        answer = thread.submit(asked)
        while not answer.done():
            interruption.interrupt()
        assert isinstance(answer.exception(), Interrupted)
        assert store.execute(Run.select(Run.name)) == [("night-1",)]


def test_of_two_who_make_a_store_both_find_it_made(address: str) -> None:
    def made(number: int) -> bool:
        with open_store(address, write=True, create=True) as store:
            put(store, f"/in/{number}.jsonl", [call(f"c-{number}")])
            return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(made, range(4)))
    with open_store(address) as store:
        assert [cell.n for cell in flow_cells(store)] == [4]
        assert examine(store).wrong == []


def test_what_no_text_can_hold_is_spelled_out_alike(address: str, tmp_path: Path) -> None:
    for place in (address, tmp_path / "calls.db"):
        with open_store(place, write=True, create=True) as store:
            put(store, "/in/a\0.jsonl", [call("c\0\ud800", persona="a\0b", error="\0")])
            found = store.execute_sql(
                "SELECT c.name, c.error, p.name FROM conversation c JOIN persona p ON p.id = c.persona_id"
            )
            assert found == [("c\\x00\\ud800", "\\x00", "a\\x00b")]


def test_what_is_usual_on_the_server_changes_no_figure(
    postgresql: Server, filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(filled, write=True) as store:
        put(store, "/in/b.jsonl", [call("c-3", duration_s=1 / 3, persona="Ünal")])
    postgresql.run("ALTER ROLE owner SET extra_float_digits = -10")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    try:
        with open_store(filled) as store:
            assert store.execute_sql("SELECT duration_s FROM conversation WHERE name = ?", ("c-3",)) == [(1 / 3,)]
            assert store.execute_sql("SELECT name FROM persona") == [("Ünal",)]
    finally:
        postgresql.run("ALTER ROLE owner RESET ALL")


def test_a_question_that_the_server_ends_is_an_error_of_ours(filled: str) -> None:
    with open_store(filled) as store:
        store.execute_sql("SELECT set_config('statement_timeout', '1ms', false)")
        with pytest.raises(StoreError, match="statement_timeout"):
            store.execute_sql("SELECT pg_sleep(600)")


def test_a_store_that_was_closed_says_so(filled: str) -> None:
    store = open_store(filled)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.execute(Run.select())


def test_a_file_that_fails_in_the_middle_leaves_nothing(filled: str) -> None:
    def broken() -> Iterator[object]:
        yield from (call(f"d-{number}") for number in range(600))
        raise RuntimeError

    with open_store(filled, write=True) as store:
        with pytest.raises(RuntimeError):
            put(store, "/in/c.jsonl", broken())  # type: ignore[arg-type]  # what fails is no item
        assert store.execute_sql("SELECT COUNT(*) FROM conversation") == [(2,)]
        assert examine(store).wrong == []


def test_a_store_that_is_gone_is_missed(postgresql: Server, filled: str) -> None:
    with open_store(filled) as store:
        before = store.identity()
        postgresql.run(f"DROP SCHEMA {schema_of(filled)} CASCADE")
        with pytest.raises(StoreMissing):
            store.identity()
        with open_store(filled, write=True, create=True):
            assert store.identity() != before


def test_an_empty_store_is_taken_back(postgresql: Server, address: str) -> None:
    with open_store(address, write=True, create=True) as store:
        assert store.discard_empty()
    with pytest.raises(StoreMissing):
        open_store(address)


def test_the_doctor_finds_what_is_missing_or_points_nowhere(postgresql: Server, filled: str) -> None:
    schema = schema_of(filled)
    postgresql.run(f"DELETE FROM {schema}.flow")
    postgresql.run(f"ALTER TABLE {schema}.run DROP COLUMN label")
    with open_store(filled) as store:
        wrong = examine(store).wrong
    assert "integrity: the table run lacks its column label" in wrong
    assert "references: 2 rows of conversation point nowhere" in wrong


def test_a_lost_connection_is_said_and_reopening_makes_another(postgresql: Server, filled: str) -> None:
    with open_store(filled) as store:
        postgresql.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        with pytest.raises(StoreError, match=r"ended the connection|was lost"):
            store.execute(Run.select())
        store.reopen()
        assert store.execute(Run.select(Run.name)) == [("night-1",)]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://who:s3cret@127.0.0.1:1/db", "no server answers"),
        ("postgresql://who:s3cret@host.invalid/db", "no such host"),
        ("postgresql://who:s3cret@127.0.0.1:1/db?no_such=s3cret", "no address"),
        ("service=no-such-service password=s3cret", "no such service"),
        ("postgresql://who:s3cret%@h/db", "no address"),
    ],
)
def test_what_cannot_be_reached_is_said_without_its_password(address: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as error:
        open_store(address)
    assert "s3cret" not in str(error.value)
    assert "who" not in str(error.value)


@pytest.mark.parametrize("password", ["", "wr0ng"])
def test_a_password_is_shown_nowhere(postgresql: Server, filled: str, password: str) -> None:
    postgresql.run("DROP ROLE IF EXISTS guarded")
    postgresql.run("CREATE ROLE guarded LOGIN PASSWORD 's3cret'")
    with pytest.raises(StoreError, match="password") as error:
        open_store(postgresql.store(user="guarded", password=password, schema=schema_of(filled)))
    assert "wr0ng" not in str(error.value)
    right = postgresql.store(user="guarded", password="s3cret", schema=schema_of(filled))
    with pytest.raises(StoreError, match="may not do this") as error:
        open_store(right)
    assert "s3cret" not in str(error.value)
    postgresql.run("DROP ROLE guarded")


def test_the_store_is_shown_without_the_password_and_opens_again_with_it(postgresql: Server, filled: str) -> None:
    secret = postgresql.store(password="s3cret", schema=schema_of(filled))
    with open_store(secret) as store:
        assert "s3cret" not in store.location
        assert "owner" not in store.location
        assert f"schema={schema_of(filled)}" in store.location
        store.reopen()
        assert isinstance(store, Store)
        assert store.execute(Run.select(Run.name)) == [("night-1",)]
