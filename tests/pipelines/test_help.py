"""Every command explains itself, with an example that it would take."""

from __future__ import annotations

import shlex

import click
import pytest
from click.testing import CliRunner

from pipelines.cli import main
from pipelines.examples import EXAMPLES


@pytest.mark.parametrize("name", sorted(main.commands))
def test_help_has_an_example(name: str) -> None:
    shown = CliRunner().invoke(main, [name, "--help"]).output
    assert "Usage:" in shown and f"Example:\n    {EXAMPLES[name]}" in shown


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_one_that_the_command_takes(name: str) -> None:
    words = shlex.split(EXAMPLES[name])
    assert words[0] == "tidemark"
    at = words.index(name)
    main.make_context("tidemark", words[1:at] + [name], resilient_parsing=True)
    command = main.commands[name]
    context = click.Context(command)
    command.make_parser(context).parse_args(words[at + 1 :])
