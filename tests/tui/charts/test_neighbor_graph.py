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
from tests.surface.store import BlastRadius, Neighbor, Neighborhood, Victim
from tests.surface.tui import (
    LEGEND,
    Drawing,
    EgoFigure,
    EgoGraph,
    GraphFigure,
    blast,
    cell_width,
    drawing,
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
    "a crowd": EgoGraph("a_state_in_the_middle_with_a_long_name", CROWD, CROWD[:15], 1, 0.01),
    "wide letters": EgoGraph("日本語の状態", (Node("開始", 4), Node("テスト", 5, stall=0.5)), OUT[:1], 2, 0.1),
    "hostile": EgoGraph(
        HOSTILE["screen wipe"],
        tuple(Node(HOSTILE[name], 9) for name in ("colour", "graph languages", "tabs", "nothing", "wide")),
        (Node(HOSTILE["bidi override"], 3, 1.0),),
    ),
}
NAMES = st.text(st.sampled_from("abc_日本é👍\u0301\x1b\n\u202e"), min_size=1, max_size=30) | st.sampled_from("abcdef")
NEIGHBORS = st.lists(
    st.builds(
        Node,
        NAMES,
        st.integers(1, 99_999),
        st.none() | st.floats(0, 1),
        st.none() | st.floats(0, 1),
        st.sampled_from([None, "success", "escalation"]),
    ),
    max_size=18,
    unique_by=lambda neighbor: neighbor.name,
)
GRAPHS = st.builds(EgoGraph, NAMES, NEIGHBORS, NEIGHBORS, st.integers(0, 999), st.none() | st.floats(0, 1))


def folded(neighbors: object, most: int = 12) -> list[Node]:
    assert isinstance(neighbors, list | tuple)
    return sorted(neighbors, key=lambda one: (-one.count, one.name))[most:]


def test_the_graph_looks_as_it_should() -> None:
    assert draw(FULL) == [
        "                                        ┌─ 31 ─► confirm           *   0.0 50%",
        "!0.36  triage ─ 42 ─┐                   ├─ 12 ─► book_viewing        !0.36 19%",
        " 0.05   greet ─ 17 ─┼►[collect_details]─┼─  6 ─► escalated               ↗  9%",
        "  0.0 confirm*─  3 ─┘                   ├─  2 ─► invalid_verificat…      ·  3%",
        "                                        └─  1 ─► booked                  ✓ <1%",
        "                        self 9 (14%)",
    ]
    assert draw(FULL, ascii_only=True) == [
        "                                        +- 31 -> confirm           *   0.0 50%",
        "!0.36  triage - 42 -+                   +- 12 -> book_viewing        !0.36 19%",
        " 0.05   greet - 17 -+>[collect_details]-+-  6 -> escalated             esc  9%",
        "  0.0 confirm*-  3 -+                   +-  2 -> invalid_verificat~      -  3%",
        "                                        +-  1 -> booked                 ok <1%",
        "                        self 9 (14%)",
    ]


def test_every_shape_draws_as_before() -> None:
    parts = [
        f"{name}\n\n" + "\n".join(draw(graph, ascii_only=ascii_only))
        for name, graph in SHAPES.items()
        for ascii_only in (False, True)
    ]
    assert_golden("\n\n".join(parts) + "\n", "egograph/shapes.txt")


def test_a_narrow_place_gets_a_list_with_the_same_in_it() -> None:
    assert draw(FULL, width=30) == [
        "in  42 triage !0.36",
        "in  17 greet 0.05",
        "in   3 confirm* 0.0",
        "[collect_details]",
        "self 9 (14%)",
        "out 31 confirm* 0.0 50%",
        "out 12 book_viewing !0.36 19%",
        "out  6 escalated ↗ 9%",
        "out  2 invalid_verificat… · 3%",
        "out  1 booked ✓ <1%",
    ]


@given(GRAPHS, st.booleans(), st.integers(16, 120))
def test_no_line_is_wider_than_asked_for_or_78(graph: EgoGraph, ascii_only: bool, width: int) -> None:
    lines = draw(graph, ascii_only=ascii_only, width=width)
    assert max(map(cell_width, lines)) <= min(width, 78)
    assert unsafe("".join(lines)) == []
    assert "".join(lines).isascii() or not ascii_only


@given(GRAPHS, st.booleans())
def test_every_neighbour_has_one_line_with_its_count_and_the_rest_is_told(graph: EgoGraph, ascii_only: bool) -> None:
    found = drawing(graph, ascii_only=ascii_only)
    for side, neighbors in (("in", graph.predecessors), ("out", graph.successors)):
        spots = [spot for spot in found.spots if spot.side == side]
        rest = folded(neighbors)
        assert sorted(spot.state for spot in spots) == sorted(one.name for one in neighbors if one not in rest)
        counts = {one.name: one.count for one in neighbors}
        for spot in spots:
            line = found.lines[spot.line]
            edge = line[spot.end :] if side == "in" and not line.startswith("in ") else line[: spot.start]
            numbers = re.findall(r" (\d+) ", edge)
            assert int(numbers[0 if side == "in" else -1]) == counts[spot.state]
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
        name = one_line(spot.state) if not ascii_only else shown
        assert shown
        assert shown == name or (shown.endswith("…") and name.startswith(shown[:-1]))


@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_order_of_the_neighbours_changes_nothing(graph: EgoGraph, chance: random.Random) -> None:
    into, out = list(graph.predecessors), list(graph.successors)
    chance.shuffle(into)
    chance.shuffle(out)
    other = dataclasses.replace(graph, predecessors=into, successors=out)
    assert drawing(other) == drawing(graph)
    assert to_dot(other) == to_dot(graph)
    assert to_mermaid(other) == to_mermaid(graph)


@given(GRAPHS)
def test_a_state_on_both_sides_is_marked_on_both(graph: EgoGraph) -> None:
    found = drawing(graph)
    both = {one.name for one in graph.predecessors} & {one.name for one in graph.successors}
    for spot in found.spots:
        if spot.side != "centre":
            after = found.lines[spot.line][spot.end :].lstrip(" ")
            assert after.startswith("*") == (spot.state in both)


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
    assert line.startswith("!0.9 + 7 more (n 595)")


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
    figure: GraphFigure = EgoFigure(graph, answer.blast)
    assert figure.draw(ascii_only=True, width=60) == [
        "0.1 a - 3 -->[x]--- 6 -> b ok 75%",
        "        self 2 (25%)",
        "",
        "Blast radius: 1 state starves if this one breaks",
        "     starved  through  reached        n",
        "  b        3      50%      25%        6",
    ]
    assert EgoFigure(graph).draw() == draw(graph)


def test_the_blast_radius_says_what_it_leaves_out() -> None:
    victims = [Victim(f"s{number:02}", 1.0, 0.5, 20.0 - number, 30) for number in range(16)]
    lines = blast(BlastRadius("calls", victims))
    assert lines[0] == "Blast radius: 16 states starve if this one breaks"
    assert lines[2].split() == ["s00", "20", "100%", "50%", "30"]
    assert lines[-1] == "  + 4 more, each starved by 8 or less"
    assert len(lines) == 15


def test_what_only_files_say_has_no_figures() -> None:
    lines = blast(BlastRadius("files", [Victim("confirm", None, None, None, None)]))
    assert lines[2].split() == ["confirm", "·", "·", "·", "·"]


VICTIMS = st.builds(Victim, NAMES, *([st.none() | st.floats(0, 1)] * 2), st.none() | st.floats(0, 1e6),
                    st.none() | st.integers(1, 10**6))  # fmt: skip


@given(st.lists(VICTIMS, max_size=20), st.booleans(), st.integers(16, 120))
def test_the_blast_radius_fits(victims: list[Victim], ascii_only: bool, width: int) -> None:
    lines = blast(BlastRadius("calls", victims), ascii_only=ascii_only, width=width)
    assert max(map(cell_width, lines)) <= min(width, 78)
    assert unsafe("".join(lines)) == []


def test_graphviz_gets_each_edge_once() -> None:
    assert to_dot(EgoGraph("x", INTO[2:], (OUT[0], OUT[1], OUT[4]), 2, 0.03)) == (
        "digraph neighbours {\n"
        "  rankdir=LR;\n"
        "  node [shape=box];\n"
        '  n0 [label="x", style=bold];\n'
        '  n1 [label="confirm\\nstall 0.0"];\n'
        '  n2 [label="book_viewing\\nstall !0.36", color="#cf222e", fontcolor="#cf222e"];\n'
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
        '  n1["confirm<br>stall 0.0"]\n'
        '  n2["book_viewing<br>stall #33;0.36"]\n'
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
    node = r'  n\d+ (-> n\d+ )?\[label="([^"\\]|\\["\\n])*"(, style=(bold|rounded))?(, (font)?color="#cf222e"){,2}\];'
    for line in dot.splitlines()[3:-1]:
        assert re.fullmatch(node, line)
    text = r'"([\w .-]|<br>|#\d+;)+"'
    step = rf"  n\d+(\[{text}\]|\(\[{text}\]\)| -->\|{text}\| n\d+)|  style n\d+ stroke(:#cf222e|-width:3px)"
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


def test_the_legend_names_the_signs_that_are_drawn() -> None:
    text = "".join(draw(FULL))
    assert all(sign in text and sign in LEGEND for sign in "!✓↗·*")


def test_an_empty_drawing_has_the_centre_alone() -> None:
    found = drawing(EgoGraph("only"))
    assert isinstance(found, Drawing)
    assert found.lines == ("[only]",)
    assert [(spot.line, spot.start, spot.end, spot.side) for spot in found.spots] == [(0, 1, 5, "centre")]
