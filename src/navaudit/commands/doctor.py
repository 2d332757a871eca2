"""``navaudit doctor``: which numeric kernels run, whether they are healthy, and how to pin them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final, NoReturn

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from navaudit import provenance
from navaudit.errors import BadInput
from navaudit.numerics import platform

_BROKEN: Final = 1


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--python", "interpreter", metavar="INTERPRETER", help="Examine this one instead.")
@click.option("--pin", "kernel", metavar="KERNEL", help="Print the environment that fixes KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def doctor(
    interpreter: str | None, kernel: str | None, as_json: bool, command: tuple[str, ...]
) -> None:
    r"""Say which numeric kernels run here and whether they are healthy.

    Exits 1 where a library call misses a known answer. With --pin KERNEL, print shell lines that
    fix every OpenBLAS to that kernel and keep NumPy off AVX-512; with a COMMAND after them, run
    it under that environment and return its exit code.

    \b
    Examples:
      navaudit doctor
      navaudit doctor --python ~/envs/navsim/bin/python
      eval "$(navaudit doctor --pin haswell)"
      navaudit doctor --pin haswell -- python run_metric_caching.py
    """
    if kernel is not None:
        _pin(kernel, interpreter, as_json, command)
        return
    if command:
        raise click.UsageError("a command is run under a pin only: add --pin KERNEL")
    diagnosis = platform.diagnose(platform.examine(interpreter), platform.closed_form_digest())
    if as_json:
        facts = {"verdict": diagnosis.verdict, **asdict(diagnosis), "provenance": provenance.here()}
        click.echo(json.dumps(facts))
    else:
        _print_report(diagnosis, Console())
    if diagnosis.verdict == "broken":
        sys.exit(_BROKEN)


def _pin(kernel: str, interpreter: str | None, as_json: bool, command: tuple[str, ...]) -> None:
    if command and as_json:
        raise click.UsageError("--json has nothing to print when a command is run")
    if command and shutil.which(command[0]) is None:
        raise BadInput("there is no such command", where=command[0])
    target = interpreter or _interpreter_of(command) or sys.executable
    examination = platform.examine_pinned(target, kernel)
    pins = platform.pins(kernel, examination.simd_running)
    for one in examination.blas or ():
        if one.kernel != pins["OPENBLAS_CORETYPE"]:
            click.echo(f"note: {one.library} takes this for its {one.kernel} kernel", err=True)
    if command:
        _become(command, pins)
    if as_json:
        click.echo(json.dumps({"environment": pins, "examination": asdict(examination)}))
    else:
        click.echo("\n".join(f"export {name}={shlex.quote(value)}" for name, value in pins.items()))


def _interpreter_of(command: tuple[str, ...]) -> str | None:
    """Find the Python a command runs in: itself, or the one its script names in its first line."""
    found = shutil.which(command[0]) if command else None
    if found is None or Path(found).name.startswith("python"):
        return found
    with Path(found).open("rb") as stream:
        first = stream.readline(512)
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    pythons = [word for word in words if Path(word).name.startswith("python")]
    return pythons[0] if pythons else None


def _become(command: tuple[str, ...], pins: dict[str, str]) -> NoReturn:
    """Replace this process by the command, so that signals and the exit code are its own."""
    sys.stdout.flush()
    try:
        os.execvpe(command[0], command, {**os.environ, **pins})  # noqa: S606 - the user's own command
    except OSError as error:
        raise BadInput(
            f"the command cannot be run: {error.strerror}",
            where=command[0],
            expected="a program, or a script whose first line names one",
        ) from error


def _print_report(diagnosis: platform.Diagnosis, console: Console) -> None:
    examined = diagnosis.examination
    versions = f"Python {examined.python}, NumPy {examined.numpy}"
    if examined.scipy:
        versions += f", SciPy {examined.scipy}"
    console.print(f"[bold]{escape(examined.processor)}[/]: {versions}")
    console.print(f"{examined.interpreter}", style="dim", soft_wrap=True, highlight=False)
    running = " ".join((*examined.simd_baseline, *examined.simd_running))
    console.print(f"NumPy's SIMD paths: {running}", highlight=False)
    console.print(_tabulate_blas(examined), _tabulate_fits(examined))
    for bits in _say_bits(diagnosis):
        console.print(bits, highlight=False, soft_wrap=True)
    for complaint in diagnosis.complaints:
        console.print(f"[red]{escape(complaint)}[/]", highlight=False, soft_wrap=True)
    for remedy in diagnosis.remedies:
        console.print(f"- {escape(remedy)}", highlight=False, soft_wrap=True)
    colour = "red" if diagnosis.complaints else "green"
    console.print(f"[bold {colour}]{diagnosis.verdict}[/]")


def _say_bits(diagnosis: platform.Diagnosis) -> Iterator[str]:
    """Hold the digests against those known, a line each."""
    for one in diagnosis.examination.fits:
        if one.call == platform.PINV:
            known = diagnosis.pinv_bits
            said = f"the bits of {known}" if known else "bits not seen before, which is no harm"
            yield f"{one.call}: {one.digest[:16]}…, {said}"
    known_form = diagnosis.closed_form_digest == platform.CLOSED_FORM_DIGEST
    said = "as on every processor" if known_form else "[red]not as known[/]"
    yield f"closed forms: {diagnosis.closed_form_digest[:16]}…, {said}"


def _tabulate_blas(examined: platform.Examination) -> Table | str:
    if examined.blas is None:
        return "BLAS kernels unknown: install threadpoolctl beside that NumPy to see them"
    table = Table("BLAS library", "version", "kernel", "threads", box=SIMPLE)
    for one in examined.blas:
        told = (one.library, one.version, one.kernel, one.threads)
        table.add_row(*("unknown" if fact is None else str(fact) for fact in told))
    return table


def _tabulate_fits(examined: platform.Examination) -> Table:
    table = Table("library call", "10 m/s", "off by", "0.02 1/m", "off by", "verdict", box=SIMPLE)
    for one in examined.fits:
        values = (
            (one.first_speed_mps, ".6g"),
            (one.speed_error_mps, ".1e"),
            (one.first_curvature_per_m, ".6g"),
            (one.curvature_error_per_m, ".1e"),
        )
        said = ("none" if value is None else f"{value:{digits}}" for value, digits in values)
        table.add_row(one.call, *said, "healthy" if one.healthy else "[red]broken[/]")
    return table
