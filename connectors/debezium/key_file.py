"""The private key of a client's certificate as Java's Postgres driver reads it: PKCS #8 in DER. libpq takes PEM."""

from __future__ import annotations

from pathlib import Path

from compiler.errors import TidemarkError

PEM = b"-----BEGIN"


def converted(key: Path, password: str | None, folder: Path) -> Path:
    """The same key in a form that the driver reads: itself, or a file in `folder`, which nobody else can read. Raises
    TidemarkError where it cannot be read."""
    try:
        from cryptography.hazmat.primitives import serialization as s
    except ImportError as e:
        raise TidemarkError(
            "the key of the client's certificate cannot be read for Debezium",
            code="no_debezium",
            detail="The package cryptography is not installed.",
            hint="pip install 'tidemark[debezium]', or leave out capture = \"debezium\" in tidemark.toml.",
        ) from e
    try:
        text = key.read_bytes()
        if not text.startswith(PEM):
            return key
        found = s.load_pem_private_key(text, password.encode() if password else None)
    except (OSError, TypeError, ValueError) as e:
        raise TidemarkError(
            "the key of the client's certificate cannot be read for Debezium",
            code="bad_key",
            detail=f"{key}: {e}",
            hint="Look at sslkey and sslpassword in [source] dsn.",
        ) from e
    out = folder / "client.pk8"
    out.touch(mode=0o600)
    out.write_bytes(found.private_bytes(s.Encoding.DER, s.PrivateFormat.PKCS8, s.NoEncryption()))
    return out
