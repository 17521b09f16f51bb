"""Jars by Maven's client, which resolves what they need, too."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CACHE = Path.home() / ".cache" / "tidemark"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>tidemark</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>{}</dependencies></project>"""
ONE = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def fetch(wanted: list[str], target: Path, *options: str) -> bool:
    """Puts the jars of `wanted` (group:artifact:version) and of what they need into the folder `target`; False, and
    why on standard error, where that fails."""
    mvn = shutil.which("mvn")
    assert mvn is not None
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder) / "pom.xml"
        pom.write_text(POM.format("".join(ONE.format(*w.split(":")) for w in wanted)))
        command = [mvn, "-B", "-q", "-f", str(pom), COPY, f"-DoutputDirectory={folder}/jars", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        jars = list(Path(folder).glob("jars/*.jar"))
        if done.returncode or not jars:
            print(f"Maven could not fetch {', '.join(wanted)}", done.stdout[-500:], sep="\n", file=sys.stderr)
            return False
        target.mkdir(parents=True, exist_ok=True)
        for j in jars:
            shutil.copy(j, target / j.name)
    return True
