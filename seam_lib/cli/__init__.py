"""The `seam` command. Each module here wraps one part of the library; none holds logic.

Commands import what they need when they run, so that `seam --help` answers at once.
"""

import errno
import sys
from typing import NoReturn

import typer
from rich.console import Console

from seam_lib.cli import (
    build,
    claims,
    infer,
    paper,
    release,
    report,
    review,
    score,
    specimens,
    trial,
    wild,
)
from seam_lib.core.errors import SeamError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="SEAM: does a model return the user's comment inside the text it was asked to edit?",
)
for part in (paper, build, release, infer, score, review, report, trial, claims, specimens, wild):
    part.register(app)


def main() -> None:
    """Run the command line; what a user can fix becomes one clear message and exit status 2."""
    try:
        app()
    except SeamError as error:
        fail(str(error))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        fail("the disk is full. Make room, then start again: finished work is kept.")


def fail(message: str) -> NoReturn:
    """Say what is wrong on standard error and end with status 2."""
    Console(stderr=True, soft_wrap=True).print(f"seam: {message}", markup=False, highlight=False)
    sys.exit(2)
