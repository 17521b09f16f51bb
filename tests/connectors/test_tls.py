"""A source that takes no connection without TLS: the settings of libpq hold for each of our connections, by the stream
and by Debezium."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import trustme

from pipelines.showing.embedded import EmbeddedPostgres
from tests.connectors.standby import binaries
from tests.pipelines.running import running
from tests.project import Project

LOCAL = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
FOUND = Path(LOCAL[-1]) if LOCAL else binaries()  # the wheel's Postgres is built without TLS
pytestmark = pytest.mark.skipif(FOUND is None, reason="no Postgres with TLS: scripts/fetch-postgres")
RULES = """
host all postgres 127.0.0.1/32 trust
hostssl all word 127.0.0.1/32 scram-sha-256
hostssl all card 127.0.0.1/32 cert
"""
PASSWORD = "two words"


@dataclass
class Server:
    """`dsn` is that of the superuser; `folder` has the certificates."""

    dsn: str
    folder: Path

    def of(self, user: str, authority: str = "ca.pem") -> str:
        port = psycopg.conninfo.conninfo_to_dict(self.dsn)["port"]
        own = f" sslcert={self.folder}/card.pem sslkey={self.folder}/card.key" if user == "card" else ""
        trusted = f"sslmode=verify-full sslrootcert={self.folder}/{authority}{own}"
        return f"host=localhost port={port} user={user} dbname=postgres {trusted}"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert FOUND is not None
    folder = tmp_path_factory.mktemp("tls")
    authority, other = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    other.cert_pem.write_to_path(folder / "other.pem")
    card = authority.issue_cert("card.example.org", common_name="card")
    card.cert_chain_pems[0].write_to_path(folder / "card.pem")
    card.private_key_pem.write_to_path(folder / "card.key")
    (folder / "card.key").chmod(0o600)
    mine = authority.issue_cert("localhost")
    with EmbeddedPostgres(FOUND) as server:
        data = server.folder / "data"
        owner = data.stat()
        mine.cert_chain_pems[0].write_to_path(data / "server.crt")
        mine.private_key_pem.write_to_path(data / "server.key")
        shutil.copy(folder / "ca.pem", data / "ca.pem")
        (data / "server.key").chmod(0o600)
        (data / "pg_hba.conf").write_text(RULES)
        for name in ("server.crt", "server.key", "ca.pem"):
            os.chown(data / name, owner.st_uid, owner.st_gid)
        with psycopg.connect(server.dsn, autocommit=True) as c:
            c.execute("CREATE ROLE card LOGIN SUPERUSER")
            c.execute(f"CREATE ROLE word LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
            c.execute("ALTER SYSTEM SET ssl_ca_file = 'ca.pem'")
            c.execute("ALTER SYSTEM SET ssl = on")
            c.execute("SELECT pg_reload_conf()")
        yield Server(server.dsn, folder)


@pytest.mark.parametrize("capture", ["stream", "debezium"])
@pytest.mark.parametrize("user", ["word", "card"])
def test_every_connection_is_secured(
    secured: Server, tmp_path: Path, capture: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a password that is read where libpq reads it, and with a certificate of one's own."""
    words = tmp_path / "pgpass"
    words.write_text(f"localhost:*:*:word:{PASSWORD}\n")
    words.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(words))
    p = Project.create(tmp_path, secured.of(user), {"v": "SELECT g, count(*) AS n FROM t GROUP BY g"}, capture=capture)
    p.source("DROP TABLE IF EXISTS t", "CREATE TABLE t (id int PRIMARY KEY, g int)", "INSERT INTO t VALUES (1, 1)")
    p.deploy()
    with running(p):
        p.source("INSERT INTO t SELECT i, i % 3 FROM generate_series(2, 50) i")
        p.assert_equal()
        with psycopg.connect(secured.dsn) as c:
            told = c.execute(
                "SELECT s.ssl, a.backend_type = 'walsender' OR a.query ~ 'REPLICATION' FROM pg_stat_ssl s JOIN "
                "pg_stat_activity a USING (pid) WHERE a.usename = %s",
                (user,),
            ).fetchall()
        assert all(ssl for ssl, _ in told) and any(stream for _, stream in told), told
    done = p.command("teardown", "--yes")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("capture", ["stream", "debezium"])
def test_a_server_that_another_authority_vouches_for_is_refused(secured: Server, tmp_path: Path, capture: str) -> None:
    p = Project.create(tmp_path, secured.of("card", "other.pem"), {"v": "SELECT id FROM t"}, capture=capture)
    done = p.command("deploy")
    assert done.returncode == 3 and "certificate verify failed" in done.stderr, done.stderr
