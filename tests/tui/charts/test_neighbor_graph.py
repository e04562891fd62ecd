from __future__ import annotations

import dataclasses
import random
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.golden import assert_golden
from tests.support.hostile import HOSTILE, unsafe
from tests.surface.store import BlastRadius, Neighbor, Neighborhood, Terminus, Victim
from tests.surface.tui import (
    Drawing,
    EgoFigure,
    EgoGraph,
    GraphFigure,
    blast,
    cell_width,
    drawing,
    legend,
    of_neighborhood,
    one_line,
    to_dot,
    to_mermaid,
)
from tests.surface.tui import GraphNeighbor as Node
from tests.surface.tui import neighbor_graph_draw as draw

INTO = (
    Node("triage", 42, 0.68, 0.36),
    Node("greet", 17, 0.27, 0.05),
    Node("confirm", 3, 0.05, 0.0),
)
OUT = (
    Node("confirm", 31, 0.5, 0.0),
    Node("book_viewing", 12, 0.19, 0.36),
    Node("escalated", 6, 0.09, None, "escalation"),
    Node("invalid_verification_code", 2, 0.03),
    Node("booked", 1, 0.004, None, "success"),
)
FULL = EgoGraph("collect_details", INTO, OUT, 9, 0.14)
ENDS = Node("", 31, 0.43, 1.0, "ended", {"hangup": 14, "max_turns": 11, "loop": 4, "timeout": 2})
DYING = EgoGraph(
    "book_viewing", (Node("collect_tour_slot", 72),), (Node("escalated", 41, 0.57, None, "escalation"), ENDS)
)
CROWD = tuple(Node(f"state_{number}", number * 3 + 1, number / 400, number / 40) for number in range(20))
SHAPES = {
    "alone": EgoGraph("only"),
    "alone with itself": EgoGraph("only", loops=3, loops_share=1.0),
    "a start": EgoGraph("greet", (), OUT[:2]),
    "an end": EgoGraph("close", INTO, (), 4, 0.2),
    "one to one": EgoGraph("collect", INTO[:1], OUT[:1]),
    "one to two": EgoGraph("collect", INTO[:1], OUT[:2]),
    "two to one": EgoGraph("collect", INTO[:2], OUT[:1]),
    "two to two": EgoGraph("collect", INTO[:2], OUT[:2], 2, 0.1),
    "three to three": EgoGraph("collect", INTO, OUT[:3]),
    "full": FULL,
    "an end of calls": DYING,
    "a beginning and an end of calls": EgoGraph(
        "collect",
        (*INTO, Node("", 9, 0.1, None, "start")),
        (*OUT[:3], Node("", 20, 0.3, 0.2, "ended", {"hangup": 20}), Node("nobody_went", 0, 0.0)),
        9,
        0.1,
    ),
    "calls that end alone": EgoGraph("close", INTO[:1], (Node("", 42, 1.0, 0.0, "ended", {"terminal": 42}),)),
    "a crowd": EgoGraph("a_state_in_the_middle_with_a_long_name", CROWD, CROWD[:15], 1, 0.01),
    "wide letters": EgoGraph("日本語の状態", (Node("開始", 4), Node("テスト", 5, stall=0.5)), OUT[:1], 2, 0.1),
    "hostile": EgoGraph(
        HOSTILE["screen wipe"],
        tuple(Node(HOSTILE[name], 9) for name in ("colour", "graph languages", "tabs", "nothing", "wide")),
        (Node(HOSTILE["bidi override"], 3, 1.0),),
    ),
}
NAMES = st.text(st.sampled_from("abc_日本é👍\u0301\x1b\n\u202e"), min_size=1, max_size=30) | st.sampled_from("abcdef")
SHARES = st.none() | st.floats(0, 1)
NEIGHBORS = st.lists(
    st.builds(Node, NAMES, st.integers(0, 99_999), SHARES, SHARES, st.sampled_from([None, "success", "escalation"])),
    max_size=18,
    unique_by=lambda neighbor: neighbor.name,
)
STARTS = st.lists(st.builds(Node, st.just(""), st.integers(1, 99), SHARES, st.none(), st.just("start")), max_size=1)
REASONS = st.dictionaries(NAMES, st.integers(1, 99), max_size=5)
STOPS = st.lists(
    st.builds(Node, st.just(""), st.integers(1, 99), SHARES, SHARES, st.just("ended"), REASONS), max_size=1
)


def graphs(names: st.SearchStrategy[str], neighbors: st.SearchStrategy[list[Node]]) -> st.SearchStrategy[EgoGraph]:
    sides = (st.builds(list[Node].__add__, neighbors, ends) for ends in (STARTS, STOPS))
    return st.builds(EgoGraph, names, *sides, st.integers(0, 999), SHARES)


GRAPHS = graphs(NAMES, NEIGHBORS)
# Names of one flow begin and end alike, and differ anywhere.
WORDS = st.sampled_from(["collect", "details", "of", "the", "caller", "customer", "a", "b"])
ALIKE = st.lists(WORDS, min_size=1, max_size=9).map("_".join)
LIKE_NEIGHBORS = st.lists(
    st.builds(Node, ALIKE, st.integers(1, 99), SHARES), max_size=14, unique_by=lambda neighbor: neighbor.name
)


def folded(neighbors: object, most: int = 12) -> list[Node]:
    assert isinstance(neighbors, list | tuple)
    ranked = sorted(neighbors, key=lambda one: (-one.count, not one.is_state, one.name))
    return [one for one in ranked[most - 1 :] if one.is_state] if len(ranked) > most else []


def test_the_graph_looks_as_it_should() -> None:
    assert draw(FULL, width=80) == [
        "                                       ┌─ 31 ─► confirm               *      50%",
        "!36%  triage ─ 42 ─┐                   ├─ 12 ─► book_viewing            !36% 19%",
        "       greet ─ 17 ─┼►[collect_details]─┼─  6 ─► escalated                  ↗  9%",
        "     confirm*─  3 ─┘                   ├─  2 ─► invalid_ver…ation_code        3%",
        "                                       └─  1 ─► booked                     ✓ <1%",
        "                       self 9 (14%)",
    ]
    assert draw(FULL, width=80, ascii_only=True) == [
        "                                       +- 31 -> confirm               *      50%",
        "!36%  triage - 42 -+                   +- 12 -> book_viewing            !36% 19%",
        "       greet - 17 -+>[collect_details]-+-  6 -> escalated                esc  9%",
        "     confirm*-  3 -+                   +-  2 -> invalid_ve..ation_code        3%",
        "                                       +-  1 -> booked                    ok <1%",
        "                       self 9 (14%)",
    ]


def test_calls_that_end_in_a_state_stand_among_its_exits_with_how_they_stopped() -> None:
    assert draw(DYING, width=80) == [
        "                                         ┌─ 41 ─► escalated   ↗ 57% ████▌",
        "collect_tour_slot ─ 72 ──►[book_viewing]─┴─ 31 ─► ✕ ends here   43% ███▌",
        "                                   hangup 14 · max_turns 11 · loop 4 · timeout 2",
    ]
    assert draw(DYING, width=70, ascii_only=True)[1:] == [
        "collect_tour_slot - 72 -->[book_viewing]-+- 31 -> x ends here     43%",
        "                            hangup 14, max_turns 11, loop 4, timeout 2",
    ]
    served = EgoGraph("close", (), (Node("", 3, 1.0, 0.0, "ended", {"terminal": 3}),))
    assert draw(served) == ["[close]─── 3 ─► ends here 100% ████████", "                terminal 3"]
    assert draw(DYING, width=40)[-2:] == ["out 31 ✕ ends here 43%", "       hangup 14 · max_turns 11 · 2 more"]


def test_where_calls_begin_and_what_nobody_took_is_drawn() -> None:
    graph = EgoGraph("greet", (Node("", 5, 1.0, None, "start"),), (Node("ask", 5, 1.0), Node("hand_over", 0, 0.0)))
    assert draw(graph) == [
        "                       ┌─ 5 ─► ask       100% ████████",
        "(start) ─ 5 ──►[greet]─┴┄ 0 ┄► hand_over   0%",
    ]
    assert to_dot(graph).splitlines()[-3:] == [
        '  n0 -> n2 [label="5 (100%)"];',
        '  n0 -> n3 [label="0 (0%)", style=dashed];',
        "}",
    ]
    assert '  n0 -.->|"0 #40;0#37;#41;"| n3' in to_mermaid(graph).splitlines()
    assert legend(graph, "calls that came in") == (
        "┄ 0 ┄ only the flow's files have this step; percent of the calls that came in"
    )


def test_a_state_that_is_called_like_the_end_of_calls_is_told_apart_from_it() -> None:
    lines = draw(EgoGraph("a", (), (Node("ends here", 3, 0.5), Node("", 3, 0.5, 0.0, "ended"))))
    assert sorted(line.partition("► ")[2].split(" 50%")[0].strip() for line in lines) == ["ends here", "ends here…2"]


@given(graphs(ALIKE, LIKE_NEIGHBORS) | GRAPHS, st.sampled_from([40, 60, 80, 120, 200]), st.booleans())
def test_two_names_are_never_drawn_the_same(graph: EgoGraph, width: int, ascii_only: bool) -> None:
    found = drawing(graph, width=width, ascii_only=ascii_only)
    shown = {(found.lines[spot.line][spot.start : spot.end], spot.state, spot.outcome) for spot in found.spots}
    for text in {text for text, _, _ in shown}:
        assert len({(state, outcome) for other, state, outcome in shown if other == text}) == 1


@given(graphs(ALIKE, LIKE_NEIGHBORS), st.integers(80, 200))
def test_no_name_is_cut_as_long_as_cells_are_free(graph: EgoGraph, width: int) -> None:
    found = drawing(graph, width=width)
    whole = drawing(graph, width=1_000)
    if any("…" in line for line in found.lines):
        assert max(cell_width(line.rstrip("█▏▎▍▌▋▊▉").rstrip()) for line in whole.lines) > width


def test_names_of_one_width_are_cut_where_the_difference_is_seen() -> None:
    names = [f"collect_the_details_of_the_{letter}_of_the_caller" for letter in "abc"]
    graph = EgoGraph("x", (), [Node(name, 9 - place) for place, name in enumerate(names)])
    shown = [spot for spot in drawing(graph, width=40).spots if spot.side == "out"]
    texts = [drawing(graph, width=40).lines[spot.line][spot.start : spot.end] for spot in shown]
    assert [next(letter for letter in "abc" if f"{letter}_of" in text) for text in texts] == ["a", "b", "c"]


@given(GRAPHS, st.integers(5, 30))
def test_a_low_place_folds_more_neighbours_and_never_the_end_of_calls(graph: EgoGraph, height: int) -> None:
    found = drawing(graph, width=100, height=height)
    smallest = drawing(graph, width=100, height=1)
    assert len(found.lines) <= max(height, len(smallest.lines))
    ends = {one.outcome for one in (*graph.predecessors, *graph.successors) if not one.is_state}
    assert {spot.outcome for spot in smallest.spots if spot.outcome} == ends


def test_every_shape_draws_as_before() -> None:
    parts = [
        f"{name}\n\n" + "\n".join(draw(graph, ascii_only=ascii_only))
        for name, graph in SHAPES.items()
        for ascii_only in (False, True)
    ]
    assert_golden("\n\n".join(parts) + "\n", "egograph/shapes.txt")


def test_a_narrow_place_gets_a_list_with_the_same_in_it() -> None:
    assert draw(FULL, width=30) == [
        "in  42 triage !36%",
        "in  17 greet",
        "in   3 confirm*",
        "[collect_details]",
        "self 9 (14%)",
        "out 31 confirm* 50%",
        "out 12 book_viewing !36% 19%",
        "out  6 escalated ↗ 9%",
        "out  2 invalid_ve…tion_code 3%",
        "out  1 booked ✓ <1%",
    ]


@given(GRAPHS, st.booleans(), st.integers(16, 120))
def test_no_line_is_wider_than_asked_for(graph: EgoGraph, ascii_only: bool, width: int) -> None:
    lines = draw(graph, ascii_only=ascii_only, width=width)
    assert max(map(cell_width, lines)) <= width
    assert unsafe("".join(lines)) == []
    assert "".join(lines).isascii() or not ascii_only


@given(GRAPHS, st.booleans())
def test_every_neighbour_has_one_line_with_its_count_and_the_rest_is_told(graph: EgoGraph, ascii_only: bool) -> None:
    found = drawing(graph, ascii_only=ascii_only)
    for side, neighbors in (("in", graph.predecessors), ("out", graph.successors)):
        spots = [spot for spot in found.spots if spot.side == side]
        rest = folded(neighbors)
        assert sorted(spot.state for spot in spots) == sorted(one.name for one in neighbors if one not in rest)
        arrows = [arrow for arrow in found.arrows if arrow.side == side]
        assert [(arrow.line, arrow.state, arrow.outcome) for arrow in arrows] == [
            (spot.line, spot.state, spot.outcome) for spot in spots
        ]
        assert all(re.search(r"\d", found.lines[arrow.line][arrow.start : arrow.end]) for arrow in arrows)
        counts = {(one.name, one.is_state): one.count for one in neighbors}
        for spot in spots:
            line = found.lines[spot.line]
            edge = line[spot.end :] if side == "in" and not line.startswith("in ") else line[: spot.start]
            numbers = re.findall(r" (\d+) ", edge)
            assert int(numbers[0 if side == "in" else -1]) == counts[spot.state, spot.outcome is None]
        if rest:
            told = f"+ {len(rest)} more (n {sum(one.count for one in rest)})"
            assert sum(told in line for line in found.lines) >= 1
    assert [spot.state for spot in found.spots if spot.side == "centre"] == [graph.centre]
    assert any(line.strip().startswith(f"self {graph.loops}") for line in found.lines) or not graph.loops


@given(GRAPHS, st.integers(16, 78), st.booleans())
def test_a_spot_is_where_its_state_stands(graph: EgoGraph, width: int, ascii_only: bool) -> None:
    found = drawing(graph, width=width, ascii_only=ascii_only)
    for spot in found.spots:
        shown = found.lines[spot.line][spot.start : spot.end]
        assert shown
        if not ascii_only and spot.outcome is None and "…" not in spot.state:
            parts = iter(shown.rpartition("…")[::2] if re.search(r"…\d+$", shown) else shown.split("…"))
            assert one_line(spot.state).startswith(next(parts))
        for arrow in found.arrows:
            assert re.search(r"\d", found.lines[arrow.line][arrow.start : arrow.end])


@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_order_of_the_neighbours_changes_nothing(graph: EgoGraph, chance: random.Random) -> None:
    into, out = list(graph.predecessors), list(graph.successors)
    chance.shuffle(into)
    chance.shuffle(out)
    other = graph._replace(predecessors=into, successors=out)
    assert drawing(other) == drawing(graph)
    assert to_dot(other) == to_dot(graph)
    assert to_mermaid(other) == to_mermaid(graph)


@given(GRAPHS)
def test_a_state_on_both_sides_is_marked_on_both(graph: EgoGraph) -> None:
    found = drawing(graph)
    both = {one.name for one in graph.predecessors if one.is_state}
    both &= {one.name for one in graph.successors if one.is_state}
    for spot in found.spots:
        if spot.side != "centre":
            after = found.lines[spot.line][spot.end :].lstrip(" ")
            assert after.startswith("*") == (spot.state in both and spot.outcome is None)


@pytest.mark.parametrize("name", SHAPES)
def test_lines_of_the_drawing_meet(name: str) -> None:
    """Where a line leaves a cell downwards, one enters the cell below it from above, and to the right likewise."""
    opens = {"─": "ew", "│": "ns", "┘": "nw", "┐": "sw", "└": "ne", "┌": "es"}
    opens |= {"┤": "nsw", "├": "nes", "┴": "new", "┬": "esw", "┼": "nesw"}
    cells = [[one for sign in line for one in [sign] + [""] * (cell_width(sign) - 1)] for line in draw(SHAPES[name])]
    for row, line in enumerate(cells):
        below = cells[row + 1] if row + 1 < len(cells) else []
        for column in range(len(line)):
            here = opens.get(line[column], "")
            under = opens.get(below[column], "") if column < len(below) else ""
            assert ("s" in here) == ("n" in under)
            if column + 1 < len(line) and opens.get(line[column + 1]) and here:
                assert ("e" in here) == ("w" in opens[line[column + 1]])


def test_a_bad_neighbour_in_the_crowd_is_not_hidden_by_it() -> None:
    crowd = [Node(f"s{number}", 100 - number, stall=0.9 if number == 17 else 0.0) for number in range(19)]
    line = next(line for line in draw(EgoGraph("x", crowd)) if "more" in line)
    assert line.startswith("!90% + 8 more (n 684)")


def test_what_the_store_answers_becomes_a_graph() -> None:
    answer = Neighborhood(
        flow="f",
        state="x",
        cell=None,
        predecessors=[Neighbor("a", 3, 1.0, 0.1, 7)],
        successors=[Neighbor("b", 6, 0.75, None, 6, "success")],
        loops=2,
        blast=BlastRadius("calls", [Victim("b", 0.5, 0.25, 3.0, 6)]),
        calls=12,
    )
    graph = of_neighborhood(answer)
    expected = EgoGraph("x", (Node("a", 3, 1.0, 0.1),), (Node("b", 6, 0.75, None, "success"),), 2, 0.25)
    assert graph == expected
    assert of_neighborhood(dataclasses.replace(answer, successors=[], loops=0)).loops_share is None
    ending = dataclasses.replace(answer, starts=Terminus(7, 0.5), ends=Terminus(2, 0.2, 1.0, 2, {"hangup": 2}))
    assert of_neighborhood(ending).predecessors[1:] == (Node("", 7, 0.5, None, "start"),)
    assert of_neighborhood(ending).successors[1:] == (Node("", 2, 0.2, 1.0, "ended", {"hangup": 2}),)
    assert of_neighborhood(ending).loops_share == 0.2
    figure: GraphFigure = EgoFigure(graph, answer.blast)
    assert figure.draw(ascii_only=True, width=60) == [
        "a - 3 -->[x]--- 6 -> b ok 75% ######..",
        "    self 2 (25%)",
        "",
        "Blast radius: 1 state never reached by calls lost here",
        "    unreached   through   reached         n",
        "  b         3       50%       25%         6",
    ]
    assert EgoFigure(graph).draw() == draw(graph)


def test_the_blast_radius_says_what_it_leaves_out() -> None:
    victims = [Victim(f"s{number:02}", 1.0, 0.5, 20.0 - number, 30) for number in range(16)]
    lines = blast(BlastRadius("calls", victims))
    assert lines[0] == "Blast radius: 16 states never reached by calls lost here"
    assert lines[2].split() == ["s00", "20", "100%", "50%", "30"]
    assert lines[-1] == "  + 4 more, each never reached by 8 calls or fewer"
    assert len(lines) == 15


def test_what_only_files_say_has_no_figures() -> None:
    lines = blast(BlastRadius("files", [Victim("confirm", None, None, None, None)]))
    assert lines[2].split() == ["confirm", "·", "·", "·", "·"]


VICTIMS = st.builds(Victim, NAMES, *([st.none() | st.floats(0, 1)] * 2), st.none() | st.floats(0, 1e6),
                    st.none() | st.integers(1, 10**6))  # fmt: skip


@given(st.lists(VICTIMS, max_size=20), st.booleans(), st.integers(16, 120))
def test_the_blast_radius_fits(victims: list[Victim], ascii_only: bool, width: int) -> None:
    lines = blast(BlastRadius("calls", victims), ascii_only=ascii_only, width=width)
    assert max(map(cell_width, lines)) <= width
    assert unsafe("".join(lines)) == []


def test_graphviz_gets_each_edge_once() -> None:
    assert to_dot(EgoGraph("x", INTO[2:], (OUT[0], OUT[1], OUT[4]), 2, 0.03)) == (
        "digraph neighbours {\n"
        "  rankdir=LR;\n"
        "  node [shape=box];\n"
        '  n0 [label="x", style=bold];\n'
        '  n1 [label="confirm\\nstall 0%"];\n'
        '  n2 [label="book_viewing\\nstall !36%", color="#cf222e", fontcolor="#cf222e"];\n'
        '  n3 [label="booked", style=rounded];\n'
        '  n1 -> n0 [label="3"];\n'
        '  n0 -> n0 [label="2 (3%)"];\n'
        '  n0 -> n1 [label="31 (50%)"];\n'
        '  n0 -> n2 [label="12 (19%)"];\n'
        '  n0 -> n3 [label="1 (<1%)"];\n'
        "}\n"
    )


def test_mermaid_gets_each_edge_once() -> None:
    assert to_mermaid(EgoGraph("x", INTO[2:], (OUT[1], Node("booked", 1, outcome="success")), 2)) == (
        "flowchart LR\n"
        '  n0["x"]\n'
        '  n1["confirm<br>stall 0#37;"]\n'
        '  n2["book_viewing<br>stall #33;36#37;"]\n'
        '  n3(["booked"])\n'
        '  n1 -->|"3"| n0\n'
        '  n0 -->|"2"| n0\n'
        '  n0 -->|"12 #40;19#37;#41;"| n2\n'
        '  n0 -->|"1"| n3\n'
        "  style n0 stroke-width:3px\n"
        "  style n2 stroke:#cf222e\n"
    )


@given(GRAPHS | st.sampled_from([SHAPES["hostile"]]), st.booleans())
def test_names_cannot_become_graph_language(graph: EgoGraph, ascii_only: bool) -> None:
    dot, mermaid = to_dot(graph, ascii_only=ascii_only), to_mermaid(graph, ascii_only=ascii_only)
    assert unsafe((dot + mermaid).replace("\n", "")) == []
    assert (dot + mermaid).isascii() or not ascii_only
    style = r'(, style=(bold|rounded|dashed))?(, (font)?color="#cf222e"){,2}'
    node = rf'  n\d+ (-> n\d+ )?\[label="([^"\\]|\\["\\n])*"{style}\];'
    for line in dot.splitlines()[3:-1]:
        assert re.fullmatch(node, line)
    text = r'"([\w .-]|<br>|#\d+;)+"'
    step = rf"  n\d+(\[{text}\]|\(\[{text}\]\)| (-->|-\.->)\|{text}\| n\d+)|  style n\d+ stroke(:#cf222e|-width:3px)"
    for line in mermaid.splitlines()[1:]:
        assert re.fullmatch(step, line)


def test_mermaid_takes_no_name_for_mathematics() -> None:
    assert '"#36;#8203;#36;#8203;x#36;#8203;#36;#8203;"' in to_mermaid(EgoGraph("$$x$$"))


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_draws_every_name_as_it_stands() -> None:
    crowd = tuple(Node(text, number + 1, 0.1) for number, text in enumerate(HOSTILE.values()))
    drawn = subprocess.run(
        ["dot", "-Tsvg"], input=to_dot(EgoGraph("middle", crowd)), capture_output=True, encoding="utf-8", check=True
    )
    assert drawn.stderr == ""
    texts = [
        found.text or "" for found in ElementTree.fromstring(drawn.stdout).iter("{http://www.w3.org/2000/svg}text")
    ]
    shown = {" ".join(text.split()) for text in texts}
    assert {" ".join(one_line(text).split()) for text in HOSTILE.values() if text.strip()} <= shown
    assert {str(one.count) for one in crowd} <= shown


@pytest.mark.parametrize("name", sorted(SHAPES.keys() - {"hostile"}))
def test_the_legend_names_the_signs_that_are_drawn_and_no_others(name: str) -> None:
    text, said = "".join(draw(SHAPES[name])), legend(SHAPES[name], "calls")
    for sign in "!✓↗✕*┄":
        assert (sign in text) == (sign in said)
    assert said.endswith("percent of the calls") == any(one.share is not None for one in SHAPES[name].successors)


def test_an_empty_drawing_has_the_centre_alone() -> None:
    found = drawing(EgoGraph("only"))
    assert isinstance(found, Drawing)
    assert found.lines == ("[only]",)
    assert [(spot.line, spot.start, spot.end, spot.side) for spot in found.spots] == [(0, 1, 5, "centre")]


def test_a_drawing_without_a_width_shows_whole_names() -> None:
    names = [f"collect_the_details_of_the_{letter}_of_the_caller" for letter in "abc"]
    graph = EgoGraph("verify_the_identity_of_the_caller", [Node(names[0], 9)], [Node(name, 3, 0.3) for name in names])
    lines = EgoFigure(graph, BlastRadius("calls", [Victim(names[2], 1.0, 1.0, 3.0, 9)])).draw()
    assert "…" not in "".join(lines)
    assert 78 < max(map(cell_width, lines)) <= 200
