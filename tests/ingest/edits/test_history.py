"""Edits come from real repositories: every commit that touched a flow's file, and nothing else."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests.support.repositories import DAY, START, Repo, flow_text
from tests.surface.ingest import LAST_SECOND, EditHistory, GitProblem, read_edits

PATTERN = "flows/{flow}.*"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def told(history: EditHistory) -> dict[str, list[str]]:
    return {flow: [edit.subject for edit in edits] for flow, edits in history.edits.items()}


def test_every_commit_that_touched_a_flow_is_an_edit_of_it(repo: Repo) -> None:
    first = repo.commit("Begin", {"flows/a.toml": flow_text(), "flows/b.json": "{}", "README": "x"})
    second = repo.commit(
        "Greet more warmly\n\nBecause callers asked.", {"flows/a.toml": flow_text("warm")}, author="Grace"
    )
    repo.commit("Nothing of a flow", {"README": "y"})
    history = read_edits(repo.directory, [PATTERN])
    assert told(history) == {"a": ["Begin", "Greet more warmly"], "b": ["Begin"]}
    edit = history.edits["a"][1]
    assert (edit.flow, edit.commit, edit.time, edit.author, edit.path) == (
        "a",
        second,
        START + DAY,
        "Grace",
        "flows/a.toml",
    )
    assert history.repository == first
    assert not history.is_shallow
    assert not history.is_partial


def test_a_flow_that_was_deleted_keeps_its_edits(repo: Repo) -> None:
    repo.commit("Begin", {"flows/a.toml": flow_text()})
    repo.commit("Retire a", {"flows/a.toml": None})
    assert told(read_edits(repo.directory, [PATTERN])) == {"a": ["Begin", "Retire a"]}


def test_several_files_of_a_flow_in_one_commit_are_one_edit(repo: Repo) -> None:
    repo.commit("Begin", {"flows/a/main.toml": "1", "flows/a/deep/prompt.md": "2", "prompts/a.md": "3"})
    history = read_edits(repo.directory, ["flows/{flow}/**", "prompts/{flow}.md"])
    assert told(history) == {"a": ["Begin"]}
    assert history.edits["a"][0].path == "flows/a/deep/prompt.md"


def test_a_renamed_file_brings_its_edits_along_and_leaves_them_to_its_old_name(repo: Repo) -> None:
    repo.commit("Begin", {"dialogs/old.toml": flow_text()})
    repo.commit("Edit", {"dialogs/old.toml": flow_text("one")})
    repo.git("mv", "dialogs", "flows")
    repo.commit("Move")
    repo.git("mv", "flows/old.toml", "flows/new.toml")
    repo.commit("Rename", {"flows/new.toml": flow_text("one", "two")})
    repo.commit("Edit again", {"flows/new.toml": flow_text("three")})
    assert told(read_edits(repo.directory, [PATTERN])) == {
        "new": ["Begin", "Edit", "Move", "Rename", "Edit again"],
        "old": ["Begin", "Edit", "Move", "Rename"],
    }


@pytest.mark.parametrize("seed", range(4))
def test_of_one_line_of_history_it_is_what_git_itself_follows(repo: Repo, seed: int) -> None:
    chance = random.Random(seed)
    place, changes = "flows/a.toml", ["begin"]
    repo.commit("Begin", {place: flow_text(*changes)})
    for number in range(25):
        if chance.random() < 0.3:
            new = f"{chance.choice(('flows', 'old', 'deep/er'))}/f{number}.toml"
            repo.write({new: flow_text(*changes), place: None})
            place = new
        if chance.random() < 0.6:
            changes = [*changes[-4:], f"change {number}"]
        repo.commit(f"{number}", {place: flow_text(*changes), f"other/{chance.randrange(3)}": f"{number}"})
    repo.write({place: None})
    repo.commit("End", {"flows/z.toml": flow_text(*changes)})
    followed = repo.git("log", "--follow", "-M70%", "--format=%H", "--", "flows/z.toml").split()
    found = read_edits(repo.directory, [PATTERN]).edits["z"]
    assert [edit.commit for edit in found] == followed[::-1]


def test_files_renamed_to_and_fro_end(repo: Repo) -> None:
    repo.commit("0", {"flows/a.toml": flow_text()})
    for number in range(1, 7):
        here, there = ("a", "b") if number % 2 else ("b", "a")
        repo.git("mv", f"flows/{here}.toml", f"flows/{there}.toml")
        repo.commit(str(number))
    every = [str(number) for number in range(7)]
    assert told(read_edits(repo.directory, [PATTERN])) == {"a": every, "b": every}


def test_another_flow_from_the_same_template_is_no_rename(repo: Repo) -> None:
    lines = [f"line {number}" for number in range(20)]
    repo.commit("Begin", {"flows/a.toml": "\n".join(lines)})
    changed = [f"new {line}" if number % 2 else line for number, line in enumerate(lines)]
    repo.commit("Replace a by b", {"flows/a.toml": None, "flows/b.toml": "\n".join(changed)})
    assert told(read_edits(repo.directory, [PATTERN])) == {"a": ["Begin", "Replace a by b"], "b": ["Replace a by b"]}


def test_commits_of_merged_branches_count_and_a_merge_only_where_it_changed_something(repo: Repo) -> None:
    repo.commit("Begin", {"flows/a.toml": flow_text("here"), "flows/b.toml": "1\n"}, day=0)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("On the side", {"flows/b.toml": "2\n"}, day=1)
    repo.git("checkout", "--quiet", "main")
    repo.commit("On main", {"flows/a.toml": flow_text("there")}, day=2)
    repo.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side", day=3)
    assert told(read_edits(repo.directory, [PATTERN])) == {"a": ["Begin", "On main"], "b": ["Begin", "On the side"]}

    repo.git("checkout", "--quiet", "-b", "other")
    repo.commit("Left", {"flows/b.toml": "3\n"}, day=4)
    repo.git("checkout", "--quiet", "main")
    repo.commit("Right", {"flows/b.toml": "4\n"}, day=5)
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "--quiet", "other")
    repo.commit("Settle it", {"flows/b.toml": "5\n"}, day=6)
    assert told(read_edits(repo.directory, [PATTERN]))["b"][2:] in (
        ["Left", "Right", "Settle it"],
        ["Right", "Left", "Settle it"],
    )


def test_a_merge_of_many_branches_is_read_as_one(repo: Repo) -> None:
    repo.commit("Begin", {"flows/a.toml": "0\n"}, day=0)
    for number in range(45):
        repo.git("checkout", "--quiet", "-b", f"b{number}", "main")
        repo.commit(f"Branch {number}", {f"flows/a{number}.toml": f"{number}\n", "flows/a.toml": f"x{number}\n"}, day=1)
    tree = repo.git("rev-parse", "main^{tree}")
    parents = [part for number in range(45) for part in ("-p", f"b{number}")]
    merged = repo.git("commit-tree", tree, *parents, "-m", "All of them", day=2)
    repo.git("update-ref", "refs/heads/main", merged)
    repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    found = told(read_edits(repo.directory, [PATTERN]))
    assert set(found) == {"a", *(f"a{number}" for number in range(45))}
    assert set(found["a"]) == {"Begin", "All of them", *(f"Branch {number}" for number in range(45))}


def test_a_branch_whose_work_was_thrown_away_counts_too(repo: Repo) -> None:
    repo.commit("Begin", {"flows/a.toml": "1\n"}, day=0)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("In vain", {"flows/a.toml": "2\n"}, day=1)
    repo.git("checkout", "--quiet", "main")
    repo.commit("Beside", {"README": "x"}, day=2)
    repo.git("merge", "--quiet", "--strategy=ours", "-m", "Drop it", "side", day=3)
    assert told(read_edits(repo.directory, [PATTERN]))["a"][:2] == ["Begin", "In vain"]


def test_a_shallow_clone_knows_no_edit_of_its_boundary(repo: Repo, tmp_path: Path) -> None:
    for number in range(5):
        repo.commit(f"{number}", {"flows/a.toml": str(number), "flows/b.toml": "x"})
    shallow = tmp_path / "shallow"
    repo.git("clone", "--quiet", "--depth=3", f"file://{repo.directory}", str(shallow))
    history = read_edits(shallow, [PATTERN])
    assert told(history) == {"a": ["3", "4"]}
    assert history.is_shallow


def test_a_partial_clone_fetches_nothing(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit("Begin", {"flows/a.toml": flow_text()})
    repo.git("mv", "flows/a.toml", "flows/b.toml")
    repo.commit("Rename")
    repo.git("mv", "flows/b.toml", "flows/c.toml")
    repo.commit("Rename and change", {"flows/c.toml": flow_text("more")})
    partial = tmp_path / "partial"
    origin = f"file://{repo.directory}"
    repo.git("clone", "--quiet", "--bare", "--filter=blob:none", origin, str(partial))
    before = sorted(partial.rglob("*"))
    history = read_edits(partial, [PATTERN])
    assert history.is_partial
    assert told(history) == {
        "a": ["Begin", "Rename"],
        "b": ["Begin", "Rename", "Rename and change"],
        "c": ["Rename and change"],
    }
    assert sorted(partial.rglob("*")) == before


@pytest.mark.parametrize("kind", ["bare", "worktree", "below"])
def test_a_repository_has_several_forms(kind: str, repo: Repo, tmp_path: Path) -> None:
    repo.commit("Begin", {"team/flows/a.toml": "1"})
    place, pattern = tmp_path / kind, "team/flows/{flow}.*"
    if kind == "bare":
        repo.git("clone", "--quiet", "--bare", str(repo.directory), str(place))
    elif kind == "worktree":
        repo.git("worktree", "add", "--quiet", str(place))
    else:
        place, pattern = repo.directory / "team", PATTERN
    assert told(read_edits(place, [pattern])) == {"a": ["Begin"]}


HOSTILE = [
    "-rf",
    "a b",
    'quo"te',
    "new\nline",
    "tab\there",
    "esc\x1b[2J",
    "$(touch x)",
    "`id`",
    "*",
    "[a]",
    "é",
    "日本",
    "back\\slash",
]


def test_any_name_of_a_file_and_any_words_come_through(repo: Repo) -> None:
    files: dict[str | bytes, str | None] = {f"flows/{name}.toml": name for name in HOSTILE}
    files[b"flows/\xff\xfe.toml"] = "bytes"
    repo.commit("Begin \x1b[2J [bold]x[/] \u202e ‮", files, author='Mallory \x1b]52;c;aa\x07 "x" y')
    history = read_edits(repo.directory, [PATTERN])
    assert set(history.edits) == {*HOSTILE, "\\xff\\xfe"}
    (edit,) = history.edits["*"]
    assert edit.subject == "Begin \x1b[2J [bold]x[/] \u202e ‮"
    assert edit.author == 'Mallory \x1b]52;c;aa\x07 "x" y'


def test_an_empty_message_and_one_in_another_encoding_are_read(repo: Repo) -> None:
    repo.commit("", {"flows/a.toml": "1"})
    repo.git("config", "i18n.commitEncoding", "ISO-8859-1")
    repo.commit("Zahnärztin".encode("latin-1"), {"flows/a.toml": "2"})
    repo.git("config", "i18n.commitEncoding", "UTF-8")
    repo.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    repo.commit("Größe", {"flows/a.toml": "3"})
    repo.commit("x" * 100_000, {"flows/a.toml": "4"})
    assert told(read_edits(repo.directory, [PATTERN]))["a"] == ["", "Zahnärztin", "Größe", f"{'x' * 499}…"]


def test_edits_are_in_the_order_of_history_whatever_their_times_say(repo: Repo) -> None:
    for number, day in enumerate((5, 3, 4, 4)):
        repo.commit(str(number), {"flows/a.toml": str(number)}, day=day)
    assert told(read_edits(repo.directory, [PATTERN]))["a"] == ["0", "1", "2", "3"]


def test_a_commit_of_no_time_is_left_out_and_counted(repo: Repo) -> None:
    repo.commit("Begin", {"flows/a.toml": "1"})
    repo.commit("Sane", {"flows/a.toml": "2"})
    raw = repo.git("cat-file", "commit", "HEAD") + "\n"
    head, _, tail = raw.partition("author Ada <ada@example.org> ")
    strange = f"{head}author Ada <ada@example.org> {LAST_SECOND + 1} {tail.split(' ', 1)[1]}".replace("Sane", "Beyond")
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=strange.encode())
    repo.git("update-ref", "refs/heads/main", commit)
    history = read_edits(repo.directory, [PATTERN])
    assert told(history) == {"a": ["Begin"]}
    assert history.undated == 1


def test_neither_settings_nor_surroundings_change_what_is_read(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("Begin", {"flows/é.toml": flow_text()})
    repo.git("mv", "flows/é.toml", "flows/b.toml")
    repo.commit("Rename")
    plain = read_edits(repo.directory, [PATTERN])
    for key, value in {
        "diff.renames": "false", "diff.relative": "true", "diff.noprefix": "true", "log.date": "iso",
        "log.showRoot": "false", "format.pretty": "oneline", "core.quotePath": "true", "log.follow": "true",
        "diff.renameLimit": "1", "color.ui": "always",
    }.items():  # fmt: skip
        repo.git("config", key, value)
    for name, value in {
        "TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "GIT_DIR": "/nowhere", "GIT_TRACE": "1",
        "GIT_LITERAL_PATHSPECS": "1", "GIT_EXTERNAL_DIFF": "false", "GIT_PAGER": "false",
        "GIT_CONFIG_PARAMETERS": "'x.y=z'",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert read_edits(repo.directory, [PATTERN]) == plain


def test_a_repository_that_was_sent_runs_no_program(repo: Repo, tmp_path: Path) -> None:
    repo.commit("Begin", {"flows/a.toml": flow_text(), ".gitattributes": "* diff=evil filter=evil merge=evil\n"})
    repo.git("mv", "flows/a.toml", "flows/b.toml")
    signed = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
    repo.commit("Rename", {"flows/b.toml": flow_text("x")})
    head, gap, message = repo.git("cat-file", "commit", "HEAD").partition("\n\n")
    commit = repo.git(
        "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\n{signed}{gap[1:]}{message}\n".encode()
    )
    repo.git("update-ref", "refs/heads/main", commit)
    tree = repo.git("rev-parse", "HEAD~1^{tree}")
    trace, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {trace}\ncat\n')
    program.chmod(0o755)
    hooks = repo.directory / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "fsmonitor-watchman", "post-index-change"):
        (hooks / hook).symlink_to(program)
    lines = [
        f"[core]\nfsmonitor = {program}\npager = {program}\nsshCommand = {program}\naskPass = {program}",
        f"hooksPath = {hooks}\ngitProxy = {program}\nalternateRefsCommand = {program}\neditor = {program}",
        f'[diff]\nexternal = {program}\n[diff "evil"]\ncommand = {program}\ntextconv = {program}',
        f'[filter "evil"]\nclean = {program}\nsmudge = {program}\nprocess = {program}\nrequired = true',
        f"[log]\nshowSignature = true\n[gpg]\nprogram = {program}\n[pager]\nrev-list = true\ndiff-tree = true",
        f"[alias]\nrev-list = !{program}\ndiff-tree = !{program}\nrev-parse = !{program}",
        f'[remote "evil"]\nurl = ext::{program}\nuploadpack = {program}\npromisor = true\n[protocol]\nallow = always',
        "[extensions]\npartialClone = evil",
    ]
    with open(repo.directory / ".git" / "config", "a", encoding="utf-8") as file:
        file.write("\n".join([*lines, "[core]\nrepositoryformatversion = 1", ""]))
    history = read_edits(repo.directory, [PATTERN])
    assert told(history) == {"a": ["Begin", "Rename"], "b": ["Rename"]}
    assert not trace.exists()

    subprocess.run(["git", "log", "--patch"], cwd=repo.directory, capture_output=True, check=False)
    assert trace.exists(), "the traps would have caught a careless reader"
    trace.unlink()

    (repo.directory / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitProblem, match="partial clone"):
        read_edits(repo.directory, [PATTERN])
    assert not trace.exists()


def test_reading_changes_nothing_in_the_repository(repo: Repo) -> None:
    repo.commit("Begin", {"flows/a.toml": "1"})
    repo.write({"flows/a.toml": "2"})
    before = {path: path.stat().st_mtime_ns for path in repo.directory.rglob("*")}
    read_edits(repo.directory, [PATTERN])
    assert {path: path.stat().st_mtime_ns for path in repo.directory.rglob("*")} == before
