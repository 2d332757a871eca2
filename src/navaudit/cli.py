"""The commands: parse, call one function, print. No logic lives here."""

from __future__ import annotations

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="navaudit")
def main() -> None:
    """Generate, audit and repair the training labels of NAVSIM driving planners."""
