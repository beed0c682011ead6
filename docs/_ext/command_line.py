"""A directive for the reference of the command line: what `--help` prints, verb by verb.

    ```{command-line} tamis.cli:app
    ```

The text is that of the commands themselves, made while the site is built, so the page cannot fall
behind the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command
from typer.testing import CliRunner

WIDTH = 88


class CommandLine(SphinxDirective):
    """A section for every verb of a typer application."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The sections, in alphabetical order."""
        module, _, name = self.arguments[0].partition(":")
        self.application = getattr(import_module(module), name)
        root = get_command(self.application)
        return [self._section(command, (verb,)) for verb, command in _verbs(root)]

    def _section(self, command: Any, verbs: tuple[str, ...]) -> nodes.section:
        title = " ".join(("tamis", *verbs))
        section = nodes.section(ids=[title.replace(" ", "-")], names=[title])
        section += nodes.title("", "", nodes.literal(title, title))
        self.state.document.note_explicit_target(section)
        section += _literal(self._help(verbs))
        section += [self._section(inner, (*verbs, verb)) for verb, inner in _verbs(command)]
        return section

    def _help(self, verbs: tuple[str, ...]) -> str:
        terminal = {"COLUMNS": str(WIDTH), "TERM": "dumb", "NO_COLOR": "1"}
        run = CliRunner(env=terminal).invoke(
            self.application, [*verbs, "--help"], prog_name="tamis"
        )
        if run.exit_code:
            raise self.error(f"tamis {' '.join(verbs)} --help failed: {run.output}")
        lines = (line.removeprefix(" ").rstrip() for line in run.stdout.strip("\n").splitlines())
        return "\n".join(lines).strip("\n")


def _verbs(command: Any) -> Iterator[tuple[str, Any]]:
    commands = getattr(command, "commands", {})
    return ((verb, commands[verb]) for verb in sorted(commands) if not commands[verb].hidden)


def _literal(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="text", classes=["command-help"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
