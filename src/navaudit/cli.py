"""The command line: names and where each command lives. No logic lives here."""

from __future__ import annotations

import importlib
import json
import keyword
import sys
import warnings
from typing import Any, Final

import click

from navaudit.errors import BadInput, NavauditError

COMMANDS: Final = {
    "demo": "run everything that exists on the synthetic town, end to end",
    "doctor": "which numeric kernels run here, and whether they are healthy",
    "town": "write a synthetic town in the real file formats",
    "scenes": "make scenes, with their reference trajectories, from logs and maps",
    "label": "score every candidate in every scene, and keep it with what the human does",
    "import": "make a label set of GTRS labels",
    "export": "write a label set as a GTRS pickle, under a policy",
    "certify": "compare two label sets or label files, entry by entry",
    "census": "what the human of every scene scores, on whom the rule hangs",
    "audit": "count what forgiveness changed and erased in a label set",
    "flips": "what the overwrite turns from failing to passing in lane keeping",
    "processors": "make labels again under other BLAS kernels, and compare them",
    "logits": "what every head of a checkpoint says of every candidate in every scene",
    "train": "train an agent, or continue one, under a label policy",
    "probe": "how well a head still orders candidates where the rule fired",
    "plan": "the trajectory that a checkpoint chooses in every scene",
    "evaluate": "score planned trajectories, with forgiveness off and on",
    "compare": "set runs, or NAVSIM result files, against each other",
    "explain": "why one candidate scores as it does, in words and a picture",
    "report": "results of other commands into one page",
    "paper": "the numbers of the paper beside ours",
}
"""Each command and what it is for; ``navaudit.commands.<name>`` holds it."""

STOPPED: Final = 130
"""The exit code of a command that its user stopped, as shells have it: neither yes nor no."""


class Street(click.Group):
    """A group that imports a command only when it is called, so that start-up stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which data walks the street."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        # a word of the language cannot name a module
        name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module = importlib.import_module(f"navaudit.commands.{name}")
        command: click.Command = getattr(module, name)
        # click's mark for lines that stay as they are, which docstrings spell out
        command.help = (command.help or "").replace("\\b\n", "\b\n")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and tell who stops it how to go on."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("navaudit: stopped; the same command goes on from here", err=True)
            ctx.exit(STOPPED)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, turning the family of errors into one clear message and an exit code."""
        try:
            return super().main(*args, **kwargs)
        except NavauditError as error:
            _say(error)
            sys.exit(error.exit_code)
        except OSError as error:
            if error.errno is None:
                raise
            known = _of_the_disk(error)
            _say(known)
            sys.exit(known.exit_code)


def _of_the_disk(error: OSError) -> BadInput:
    """What the operating system refused: a full disk, a folder that cannot be written."""
    return BadInput(
        error.strerror or str(error),
        where=None if error.filename is None else str(error.filename),
        remedy="make room or give another place, and run again: what is finished is kept",
    )


def _say(error: NavauditError) -> None:
    if "--json" in sys.argv:
        parts = ("what", "where", "expected", "remedy")
        try:
            click.echo(json.dumps({"error": {name: getattr(error, name) for name in parts}}))
        except OSError:
            pass  # where the output itself is what the disk refuses, people are told all the same
        else:
            return
    click.echo(f"navaudit: {error}", err=True)


@click.group(cls=Street, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="navaudit")
def main() -> None:
    """Generate, audit and repair the training labels of NAVSIM driving planners.

    Example: navaudit demo --out navaudit-demo
    """
    # third-party deprecation notices are for developers, who see them as errors in the tests
    warnings.simplefilter("ignore", DeprecationWarning)
