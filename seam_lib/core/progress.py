"""A progress bar for people at a terminal, and nothing for files, tests and notebooks."""

from collections.abc import Iterable
from typing import TypeVar

from rich.console import Console
from rich.progress import track

T = TypeVar("T")


def shown(items: Iterable[T], description: str, total: int) -> Iterable[T]:
    """Yield items, with a progress bar on standard error.

    Args:
        items: The items.
        description: What is being done to them.
        total: How many there are.
    """
    console = Console(stderr=True)
    disable = not console.is_terminal
    return track(items, description, total=total, console=console, disable=disable)
