"""How the store's statements are spelled for PostgreSQL."""

from __future__ import annotations

import pytest

from tests.surface.store import spelled


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("SELECT id FROM run WHERE name = ?", "SELECT id FROM run WHERE name = %s"),
        ("SELECT '50 %?', \"a?\" FROM t WHERE n > ?", "SELECT '50 %%?', \"a?\" FROM t WHERE n > %s"),
        ("SELECT a FROM t WHERE b = ?2 AND c = ?1", "SELECT a FROM t WHERE b = %(v2)s AND c = %(v1)s"),
        ("SELECT CAST(a.x * (1 + 2) AS INTEGER) FROM a", "SELECT CAST(trunc(a.x * (1 + 2)) AS bigint) FROM a"),
        ("SELECT CAST(x AS REAL) / (y)", "SELECT CAST(x AS double precision) / (y)"),
        ("FROM a x CROSS JOIN b y ON y.i = x.i", "FROM a x JOIN b y ON y.i = x.i"),
        ("FROM a CROSS JOIN b WHERE 1 = 1", "FROM a CROSS JOIN b WHERE 1 = 1"),
        (
            "CREATE TEMP TABLE t (a INTEGER, b TEXT, PRIMARY KEY (a)) WITHOUT ROWID",
            'CREATE TEMP TABLE t (a bigint, b text COLLATE "C", PRIMARY KEY (a))',
        ),
    ],
)
def test_statements_mean_in_postgresql_what_they_mean_in_sqlite(written: str, expected: str) -> None:
    assert spelled(written).sql == expected


def test_values_are_named_only_where_one_stands_several_times() -> None:
    assert spelled("SELECT ?1, ?1").is_numbered
    assert not spelled("SELECT ?, '?1'").is_numbered
