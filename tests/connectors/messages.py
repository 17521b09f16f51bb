"""pgoutput messages built by hand, as the protocol's page describes them."""

from __future__ import annotations

import struct

Value = str | None
UNCHANGED = "\x00unchanged"


def frame(message: bytes) -> bytes:
    return struct.pack("!cQQQ", b"w", 0, 0, 0) + message


def relation(
    oid: int, name: str, columns: list[str], keys: list[str], identity: str = "d", schema: str = "public"
) -> bytes:
    out = b"R" + struct.pack("!I", oid) + schema.encode() + b"\0" + name.encode() + b"\0" + identity.encode()
    out += struct.pack("!H", len(columns))
    for c in columns:
        out += bytes([c in keys]) + c.encode() + b"\0" + struct.pack("!Ii", 25, -1)
    return frame(out)


def row(*values: Value) -> bytes:
    out = struct.pack("!H", len(values))
    for v in values:
        if v is None:
            out += b"n"
        elif v == UNCHANGED:
            out += b"u"
        else:
            out += b"t" + struct.pack("!I", len(v.encode())) + v.encode()
    return out


def insert(oid: int, *new: Value) -> bytes:
    return frame(b"I" + struct.pack("!I", oid) + b"N" + row(*new))


def update(oid: int, new: tuple[Value, ...], old: tuple[Value, ...] | None = None, tag: str = "O") -> bytes:
    before = b"" if old is None else tag.encode() + row(*old)
    return frame(b"U" + struct.pack("!I", oid) + before + b"N" + row(*new))


def delete(oid: int, old: tuple[Value, ...], tag: str = "K") -> bytes:
    return frame(b"D" + struct.pack("!I", oid) + tag.encode() + row(*old))


def truncate(*oids: int) -> bytes:
    return frame(b"T" + struct.pack("!IB", len(oids), 0) + b"".join(struct.pack("!I", o) for o in oids))


def transaction(lsn: int, *frames: bytes) -> list[bytes]:
    """Begin, the frames, commit."""
    begin = frame(b"B" + struct.pack("!QQI", lsn, 0, 1))
    commit = frame(b"C" + struct.pack("!BQQQ", 0, lsn, lsn + 8, 0))
    return [begin, *frames, commit]
