"""The graph of edits says of every commit what walking its whole history says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import Commit, EditGraph, contained_by, edit_graph, heads


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Commit], set[str]]:
    """Commits, parents first, some of whose parents are behind the boundary of a shallow clone, and the edits."""
    commits: list[Commit] = []
    for number in range(draw(st.integers(1, 25))):
        known = [str(each) for each in range(max(0, number - 6), number)]
        parents = draw(st.lists(st.sampled_from([*known, "behind"]), max_size=3, unique=True))
        commits.append(Commit(str(number), tuple(parents)))
    return commits, draw(st.sets(st.sampled_from([commit.id for commit in commits])))


def ancestors(commits: list[Commit], tip: str) -> set[str]:
    parents = {commit.id: commit.parents for commit in commits}
    found, waiting = set(), [tip]
    while waiting:
        commit = waiting.pop()
        if commit in parents and commit not in found:
            found.add(commit)
            waiting.extend(parents[commit])
    return found


def edits_of(graph: EditGraph, tip: str) -> set[str | None]:
    place = graph.place_of[tip]
    if place is None:
        return set()
    bits = contained_by(node.parents for node in graph.nodes)[place]
    return {node.commit for number, node in enumerate(graph.nodes) if bits >> number & 1} - {None}


@given(histories())
def test_a_commit_contains_the_edits_among_its_ancestors(history: tuple[list[Commit], set[str]]) -> None:
    commits, edited = history
    graph = edit_graph(commits, edited)
    for commit in commits:
        assert edits_of(graph, commit.id) == ancestors(commits, commit.id) & edited


@given(histories())
def test_a_merge_is_a_node_only_where_lines_with_different_edits_meet(history: tuple[list[Commit], set[str]]) -> None:
    commits, edited = history
    graph = edit_graph(commits, edited)
    assert {node.commit for node in graph.nodes} - {None} == edited
    contained = contained_by(node.parents for node in graph.nodes)
    assert len({(node.commit, node.parents) for node in graph.nodes}) == len(graph.nodes)
    for place, node in enumerate(graph.nodes):
        assert node.commit is not None or len(node.parents) > 1
        assert heads(node.parents, contained) == node.parents
        assert all(parent < place for parent in node.parents)


def test_a_branch_without_an_edit_adds_nothing() -> None:
    lines = {"a": "", "b": "a", "side": "a", "merge": "b side", "c": "merge"}
    graph = edit_graph([Commit(name, tuple(parents.split())) for name, parents in lines.items()], {"b"})
    assert [node.commit for node in graph.nodes] == ["b"]
    assert graph.place_of == {"a": None, "b": 0, "side": None, "merge": 0, "c": 0}
