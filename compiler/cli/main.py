"""Collects the commands, and turns every failure into one line and an exit status."""

from __future__ import annotations

import importlib
import json
import pkgutil
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

import compiler.cli
from compiler.errors import KilnError, Stopped

_HELPERS = {"main", "common"}


class CommandGroup(click.Group):
    """Imports a command's file only when it is asked for, so that start-up stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = (info.name for info in pkgutil.iter_modules(compiler.cli.__path__))
        return sorted(name for name in names if name not in _HELPERS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"compiler.cli.{name}").command
        return command


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kiln", prog_name="kiln")
def cli() -> None:
    """Compile a trained network into firmware, run it and profile it on a board."""


def fail(message: str, kind: str, code: int, as_json: bool) -> int:
    """Print one line (and the JSON object that scripts read); returns the exit status."""
    if as_json:
        print(json.dumps({"error": message, "kind": kind}))
    print(f"error: {message}", file=sys.stderr)
    return code


def run(arguments: Sequence[str]) -> int:
    """One command; returns its exit status: 0, 1 for an explained failure, 2 for bad usage."""
    as_json, debug = "--json" in arguments, "--debug" in arguments
    try:
        result: Any = cli.main(list(arguments), prog_name="kiln", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except KilnError as error:
        if debug:
            raise
        return fail(str(error), error.kind, error.exit_code, as_json)
    except click.ClickException as error:
        message = " ".join(error.format_message().split()).rstrip(".")
        return fail(f"{message}; see `python -m compiler --help`", "usage", 2, as_json)
    except (click.Abort, KeyboardInterrupt):
        return fail("interrupted; nothing was left half-written", "interrupted", 1, as_json)
    except Stopped as stop:
        print(json.dumps({"stage": stop.stage, "text": stop.text}) if as_json else stop.text)
        return 0
    except BrokenPipeError:
        return 1
    except Exception as error:
        if debug:
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return fail(f"internal error: {text}; run again with --debug", "internal", 1, as_json)


def _show_warning(message: Warning | str, *_where: object) -> None:
    """A warning of the library as one line, without the place in the code."""
    from compiler.cli.common import warn

    warn(str(message))


def end_tidily_on_termination() -> None:
    """SIGTERM acts as Ctrl-C does, so that an emulator that we started ends with us."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def main() -> None:
    """Entry point of ``python -m compiler`` and of the ``kiln`` script."""
    end_tidily_on_termination()
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    sys.exit(run(sys.argv[1:]))
