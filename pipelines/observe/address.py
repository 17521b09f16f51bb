"""host:port, of where to listen."""

from __future__ import annotations


def parse_address(text: str) -> tuple[str, int]:
    """("127.0.0.1", 9187) of "127.0.0.1:9187", ("::1", 9187) of "[::1]:9187"; raises ValueError."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError('an IPv6 address is written in brackets: "[::1]:9187"')
    if not colon or not host or host != host.strip() or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError('it has to be host:port, as in "127.0.0.1:9187"')
    return host, int(port)
