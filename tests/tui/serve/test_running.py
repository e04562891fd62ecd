"""Where the server listens."""

from __future__ import annotations

from ipaddress import ip_address

from tests.surface.tui import listen


def test_it_listens_on_this_machine_alone() -> None:
    with listen(0) as listening:
        host, port = listening.getsockname()[:2]
        assert ip_address(host).is_loopback
        assert port
