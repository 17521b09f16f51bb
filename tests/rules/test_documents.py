"""Pages have the form that readers expect: a decision its question and answer, a folder's README its length."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
PACKAGES = ("compiler", "compose", "connectors", "dialects", "pipelines", "scripts", "tests")
READMES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("README.md"))
LINES = 40


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.stem)
def test_a_decision_has_a_question_and_an_answer(page: Path) -> None:
    text = page.read_text()
    assert text.startswith("# ")
    assert 0 < text.index("\n\n**Question.** ") < text.index("\n\n**Answer.** ")


@pytest.mark.parametrize("page", READMES, ids=lambda p: p.parent.relative_to(ROOT).as_posix())
def test_the_readme_of_a_folder_is_short(page: Path) -> None:
    assert len(page.read_text().splitlines()) <= LINES
