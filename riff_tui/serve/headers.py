"""Say what a browser may do with a page, and whom it may tell of it: nobody."""

from __future__ import annotations

POLICY = "Content-Security-Policy"


def security_headers(origin: str, nonce: str = "") -> dict[str, str]:
    """Return the headers of a response from an origin; of scripts in a page only those with the nonce run."""
    connection = origin.replace("http", "ws", 1)
    policy = (
        "default-src 'none'",
        f"script-src 'self' 'nonce-{nonce}'" if nonce else "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self'",
        "img-src 'self' data:",
        f"connect-src {connection}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return {
        POLICY: "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Server": "riff-tui",
    }
