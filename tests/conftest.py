"""What all rooms' tests share. pytest's own process loads this file: it imports nothing heavy."""

import gc
from pathlib import Path

import pytest


def pytest_collection_finish() -> None:
    """Statsmodels collects garbage at each Holm adjustment: what is loaded need not be searched."""
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).resolve().parents[1]
