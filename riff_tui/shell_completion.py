"""Complete command lines in bash, zsh and fish: the shell asks riff-tui for each word, and is shown what fits.

What fits is found by click, and by the functions of `completion` that options and arguments name. The scripts are not
those of click: its bash loses all words behind the first `=` or `:`, and none of its shells completes inside a filter
in quotes. Nor does click write what shells read.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from click.shell_completion import ShellComplete

from riff_tui.errors import UsageError, writing

_SAFE = re.compile(r"[\w@%+=:,./><#-]*")
_BREAKS = "=:><"
_BASH = """\
_riff_tui() {
    local IFS=$'\\n'
    COMPREPLY=($(_RIFF_TUI_COMPLETE=bash riff-tui "${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
    [[ ${COMPREPLY[0]-} == *[=:\\>] ]] && compopt -o nospace
    return 0
}
complete -o default -F _riff_tui riff-tui
"""
_ZSH = """\
#compdef riff-tui
_riff_tui() {
    local -a found open
    found=("${(@f)$(_RIFF_TUI_COMPLETE=zsh riff-tui "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found:#}")
    (( $#found )) || { _files; return }
    open=("${(@M)found:#*[=:>]}")
    found=("${(@)found:#*[=:>]}")
    (( $#open )) && compadd -S '' -- "${open[@]}"
    (( $#found )) && compadd -- "${found[@]}"
    return 0
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _riff_tui riff-tui
"""
_FISH = """\
function __riff_tui_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (_RIFF_TUI_COMPLETE=fish riff-tui $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command riff-tui --no-files --keep-order --arguments '(__riff_tui_complete)'
"""
SCRIPTS: Mapping[str, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


class Installed(NamedTuple):
    """Name the script of a shell, the file of the shell that reads it, where it takes one, and the line added there.

    There is no line where it was there before.
    """

    script: Path
    read_by: Path | None = None
    line: str = ""

    def said(self, shell: str) -> Iterator[str]:
        """Yield what was written, and how to take it back."""
        yield f"Completion for {shell} is in {self.script}."
        if self.read_by is None:
            yield f"To take it back: rm {shlex.quote(str(self.script))}"
        else:
            added = f"got this line: {self.line}" if self.line else "has the line that reads it already."
            yield f"{self.read_by} {added}"
            yield f"To take it back: delete that line, and rm {shlex.quote(str(self.script))}"
        yield "Open a new shell to have it."


def shell_named(name: str, environ: Mapping[str, str]) -> str:
    """Return the shell of that name, else the one that the user logs in with; raises `UsageError` for any other."""
    shell = name or Path(environ.get("SHELL", "")).name
    if shell not in SCRIPTS:
        said = f"{shell or 'the shell'} is not known; " if shell else "$SHELL does not name this shell; "
        raise UsageError(f"{said}name one: riff-tui --install-completion {'|'.join(SCRIPTS)}")
    return shell


def install(shell: str, environ: Mapping[str, str] = os.environ) -> Installed:
    """Write the script of a shell, and have the shell read it when it starts; once is enough."""
    home = Path(environ.get("HOME") or Path.home())
    if shell == "fish":
        config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        return Installed(_written(config / "fish" / "completions" / "riff-tui.fish", SCRIPTS[shell]))
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    script = _written(data / "riff-tui" / f"completion.{shell}", SCRIPTS[shell])
    start = Path(environ.get("ZDOTDIR") or home) / ".zshrc" if shell == "zsh" else home / ".bashrc"
    line = f'[ -r "{script}" ] && . "{script}"  # completion of riff-tui'
    with writing(str(start)):
        known = start.read_text("utf-8", errors="replace") if start.exists() else ""
        if line in known:
            return Installed(script, start)
        _append(start, f"{'' if known.endswith(chr(10)) or not known else chr(10)}{line}\n")
    return Installed(script, start, line)


def _append(path: Path, text: str) -> None:
    """Add text to a file, whole or not at all: a shell runs what is there."""
    with path.open("ab", buffering=0) as file:
        before, data = file.tell(), text.encode()
        try:
            while data:
                data = data[file.write(data) or 0 :]
        except OSError:
            file.truncate(before)
            raise


def _written(path: Path, text: str) -> Path:
    from riff_tui.output.files import write_whole

    with writing(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.writelines([text]))
    return path


class TypedLine(NamedTuple):
    """Describe a line up to the cursor: its whole words, the one that is typed, and the quote that is open in it."""

    words: list[str]
    current: str
    quote: str = ""


def typed_line(shell: str, arguments: Sequence[str]) -> TypedLine:
    """Return the line up to the cursor, of which bash passes the whole and other shells the words as they are typed."""
    if shell == "bash":
        line = split_line("".join(arguments))
        return line._replace(words=line.words[1:])
    *before, last = arguments or ("",)
    return split_line(last)._replace(words=[split_line(word).current for word in before])


def split_line(line: str) -> TypedLine:
    """Split a line up to the cursor as shells do; a quote may be open."""
    for quote in ("", "'", '"'):
        try:
            words = shlex.split(line + quote)
        except ValueError:
            continue
        if words and (quote or not line[-1].isspace()):
            return TypedLine(words[:-1], words[-1], quote)
        return TypedLine(words, "")
    return TypedLine([], "")


def answer(shell: str, line: TypedLine, command: click.Command, others: Sequence[str] = ()) -> None:
    """Print a line for each word of a command that completes what was typed, or of others."""
    words = [*line.words]
    if words and words[-1].startswith("-") and line.current.startswith("-"):
        words.insert(-1, "--")  # else click takes a value such as that of --sort for an option
    items = ShellComplete(command, {}, command.name or "", "").get_completions(words, line.current)
    option = line.current[: line.current.find("=") + 1] if line.current.startswith("-") else ""
    found = [f"{option}{item.value}" for item in items if item.type == "plain"]
    found += [each for each in others if each.startswith(line.current)]
    for each in _replies(shell, line, option, list(dict.fromkeys(found))):
        sys.stdout.write(f"{each}\n")
    sys.stdout.flush()


def _replies(shell: str, line: TypedLine, option: str, found: Sequence[str]) -> Iterator[str]:
    """Yield what the shell gets: what stays one word as it is quoted there.

    Bash puts a reply in the place of what follows the last sign that breaks a word, or the quote that is open.
    """
    printable = [each for each in found if each.isprintable()]
    if shell != "bash":
        yield from printable
    elif not line.quote:
        behind = max(line.current.rfind(sign) for sign in _BREAKS) + 1
        yield from (each[behind:] for each in printable if _SAFE.fullmatch(each))
    else:
        ends = {"'": "'", '"': '"$`\\'}[line.quote]
        yield from (each.removeprefix(option) for each in printable if not any(sign in each for sign in ends))
