"""Run the command line with `python -m riff_tui`."""

from __future__ import annotations

from riff_tui.cli import main

# A process that helps with reading imports this module as well.
if __name__ == "__main__":
    main()
