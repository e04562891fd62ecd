"""Run the explorer, the only part that knows Textual."""

from __future__ import annotations

from riff_store.packages import load

# Nothing here speaks to a server, and OpenSSL alone takes 4 MB and a fiftieth of the start.
load("asyncio", later=("asyncio.sslproto", "ssl"))
for _name in ("hashlib", "hmac"):
    load(_name, without=("_hashlib",))

from riff_tui.tui.app import Explorer, StartOptions, print_keys, run_explorer  # noqa: E402  # it loads both

__all__ = ["Explorer", "StartOptions", "print_keys", "run_explorer"]
