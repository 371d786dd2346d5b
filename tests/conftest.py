"""What all rooms' tests share. pytest's own process loads this file: it imports nothing heavy."""

import gc
import os
import signal
from pathlib import Path

import pytest

# No test speaks TLS: a client need not read all certificates, which takes a fifth of a second.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
# A shell's background jobs ignore Ctrl-C, and so would all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Statsmodels collects garbage at each Holm adjustment: what is loaded need not be searched."""
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).resolve().parents[1]
