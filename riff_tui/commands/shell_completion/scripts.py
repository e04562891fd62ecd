"""Hold the scripts that make shells ask, and put them where a shell finds them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from riff_tui.errors import UsageError, writing

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
    """Say where the script of a shell lies, and which file of the shell now reads it, where it takes that."""

    script: Path
    read_by: Path | None


def shell_named(name: str, environ: Mapping[str, str]) -> str:
    """Return the shell of that name, else the one that the user logs in with; raises `UsageError` for any other."""
    shell = name or Path(environ.get("SHELL", "")).name
    if shell not in SCRIPTS:
        said = f"{shell or 'the shell'} is not known; " if shell else "$SHELL does not say which shell this is; "
        raise UsageError(f"{said}name one: riff-tui --install-completion {'|'.join(SCRIPTS)}")
    return shell


def install(shell: str, environ: Mapping[str, str] = os.environ) -> Installed:
    """Write the script of a shell, and have the shell read it when it starts; once is enough."""
    home = Path(environ.get("HOME") or Path.home())
    if shell == "fish":
        config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        return Installed(_written(config / "fish" / "completions" / "riff-tui.fish", SCRIPTS[shell]), None)
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    script = _written(data / "riff-tui" / f"completion.{shell}", SCRIPTS[shell])
    start = Path(environ.get("ZDOTDIR") or home) / ".zshrc" if shell == "zsh" else home / ".bashrc"
    line = f'[ -r "{script}" ] && . "{script}"  # completion of riff-tui'
    with writing(str(start)):
        known = start.read_text("utf-8", errors="replace") if start.exists() else ""
        if line not in known:
            _append(start, f"{'' if known.endswith(chr(10)) or not known else chr(10)}{line}\n")
    return Installed(script, start)


def _append(path: Path, text: str) -> None:
    """Add text to a file, whole or not at all: a shell runs what stands there."""
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
