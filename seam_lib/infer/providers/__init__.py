"""One protocol for every model: messages and decoding in, text and its circumstances out.

Each provider is one small file. Retries, limits and records are the runner's, never a provider's.
"""

import asyncio
import math
import os
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from email.utils import parsedate_to_datetime
from importlib import import_module
from ipaddress import ip_address
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from seam_lib.core.errors import SeamError
from seam_lib.core.params import RunParams

T = TypeVar("T")

#: Worth another try: the request timed out, met a conflict or a limit. So is every 5xx.
TRANSIENT = (408, 409, 429)
#: Where the key of a provider's own server is looked for, unless the run says otherwise.
KEY_ENV = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
#: The variable in which each client library looks for an address, which a run does not read.
URL_ENV = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
#: A limit that no waiting lifts: what the account may spend is spent.
USED_UP = ("insufficient_quota",)
#: How long an error asks to wait in its own words (OpenAI, Groq; Google).
ASKED_WAIT = re.compile(
    r"""(?:try again in|retryDelay"?\s*:\s*"?)\s*((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h))+)""",
    re.IGNORECASE,
)
PART_OF_WAIT = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)", re.IGNORECASE)
#: No case can succeed: refused key, no permission, no such model or address.
FATAL = (401, 402, 403, 404)


class Request(msgspec.Struct, frozen=True):
    """One call: chat messages, and how to decode the answer."""

    messages: list[dict[str, str]]
    temperature: float | None
    max_tokens: int
    seed: int | None = None
    departure: str | None = None  # from the run's decoding, as a tag: for the record alone


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One answer. `finish_reason` is the server's word; `usage` counts tokens; `raw` is trimmed."""

    text: str | None
    finish_reason: str | None
    served_model: str | None
    usage: dict[str, int]
    reasoning: str = ""
    raw: dict[str, Any] = {}


class CallError(Exception):
    """A call that brought no answer, in the provider's own words.

    Attributes:
        kind: "HTTP 429", "no connection", "timeout", "malformed" or "error as an answer".
        transient: Whether the same call may succeed later.
        limited: Whether it met a rate limit, which lifts by itself.
        fatal: Whether every other case would fail alike.
        retry_after: Seconds the provider asks to wait, if it does.
    """

    def __init__(
        self,
        kind: str,
        words: str,
        *,
        transient: bool = True,
        fatal: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{kind}: {words}" if words else kind)
        self.kind = kind
        self.transient = transient
        self.limited = kind == "HTTP 429" and not fatal
        self.fatal = fatal
        self.retry_after = retry_after


class Provider(Protocol):
    """What the runner needs of a provider."""

    #: Where the calls go, without credentials; kept in every trace.
    endpoint: str

    async def complete(self, request: Request) -> Reply:
        """Send one request.

        Raises:
            CallError: There is no answer, whatever the reason.
        """


@asynccontextmanager
async def connect(settings: RunParams) -> AsyncIterator[Provider]:
    """Open the run's provider: check its key, start its server if it is the embedded one.

    Args:
        settings: The run's entry in params.yaml.

    Yields:
        The provider, closed (and stopped) at the end.

    Raises:
        SeamError: The key or a package is missing.
    """
    # Each client library takes a second to import: load only the one that the run uses.
    module = import_module(f"seam_lib.infer.providers.{settings.provider}")
    async with module.connect(settings) as provider:
        yield provider


def api_key(settings: RunParams) -> str:
    """The run's key, from the environment; for another server only if `key_env` names a variable.

    Raises:
        SeamError: The variable is unset or empty.
    """
    usual = KEY_ENV.get(settings.provider) if settings.base_url is None else None
    name = settings.key_env or usual
    if name is None:
        return "none"
    key = os.environ.get(name, "").strip()
    if not key:
        raise SeamError(
            f"the environment variable {name} is not set, and model {settings.model!r} needs its "
            f"key. Set it (`export {name}=...`); keys are never read from a file."
        )
    return key


@contextmanager
def own_environment(settings: RunParams) -> Iterator[None]:
    """Hide from a client what the environment says for another server than the run's.

    Both libraries read organisation, project, further headers and tokens from variables, and would
    send them to any address. They belong to the provider's own server alone.
    """
    hidden = {}
    if settings.base_url is not None:
        names = [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_"))]
        hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)


def http_client(library: Any, url: str) -> Any:
    """A client library's pool of connections; no proxy stands between us and our own machine.

    Args:
        library: `openai` or `anthropic`; its aiohttp client takes half the processor time of httpx.
        url: Where the calls go.

    Raises:
        SeamError: The environment names a proxy that cannot be used.
    """
    try:
        return library.DefaultAioHttpClient(trust_env=not is_loopback(url))
    except (ValueError, ImportError) as error:
        raise SeamError(
            f"the proxy that the environment sets cannot be used for {public_url(url)}: {error} "
            "Correct or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name the host in NO_PROXY."
        ) from None


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def public_url(url: str) -> str:
    """A URL without user, password, query and fragment, as it may be recorded."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")


async def post(client: Any, path: str, body: dict[str, Any], seconds: float) -> object:
    """Send JSON through an official client and return the JSON that comes back.

    The typed methods of both clients rebuild every request and answer field by field, which costs
    more than the rest of a call; the clients' own untyped `post` keeps authentication, address
    and error handling. `answer` checks the types that matter.

    Args:
        client: An `AsyncOpenAI` or `AsyncAnthropic`, its own retries off.
        path: Below the client's base URL.
        body: The request.
        seconds: Limit for the whole exchange: a server that drips bytes does not escape it.

    Raises:
        CallError: No whole JSON answer with status 2xx came in time.
    """
    try:
        async with asyncio.timeout(seconds):
            return await client.post(path, body=body, cast_to=object)
    except TimeoutError:
        raise CallError("timeout", f"no whole answer within {seconds:g} s") from None
    except ValueError as error:  # the body is not JSON
        raise CallError("malformed", f"the answer is not whole JSON: {error}") from None
    except Exception as error:
        raise _call_error(error, client.api_key) from None


def answer(data: object, row_type: type[T]) -> T:
    """Check the JSON of an answer against the fields that we read.

    Args:
        data: The answer; text, if the server did not call it JSON.
        row_type: What it should be.

    Raises:
        CallError: It is something else: an error in an answer with status 200, a proxy's page.
    """
    try:
        found = msgspec.json.decode(data) if isinstance(data, str) else data
        if isinstance(found, dict) and found.get("error"):
            raise CallError("error as an answer", own_words(msgspec.json.encode(found).decode()))
        return msgspec.convert(found, row_type)
    except msgspec.DecodeError as error:
        raise CallError("malformed", f"{error}; the answer begins {str(data)[:120]!r}") from None


def token_count(value: object) -> int | None:
    """A count in a usage report; None if it is no count, whatever it is instead."""
    if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
        return int(value)
    return None


def _call_error(error: Exception, key: str | None) -> CallError:
    """Translate a client library's exception; both libraries share its shape."""
    status = getattr(error, "status_code", None)
    if status is None:
        cause = error.__cause__ or error
        return CallError("no connection", _redact(str(cause) or type(cause).__name__, key))
    response = error.response  # type: ignore[attr-defined]
    headers, body = response.headers, response.text
    return CallError(
        f"HTTP {status}",
        _redact(own_words(body), key),
        transient=status in TRANSIENT or status >= 500,
        fatal=status in FATAL or any(word in body for word in USED_UP),
        retry_after=_milliseconds(headers.get("retry-after-ms"))
        or _retry_after(headers.get("retry-after"))
        or _asked_wait(body),
    )


def own_words(body: str) -> str:
    """The message inside an error body: `error.message`, `message`, `detail`, or the body."""
    try:
        data = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return " ".join(body.split())[:300]
    while isinstance(data, dict):
        inner = next((data[k] for k in ("error", "message", "detail") if data.get(k)), None)
        if inner is None:
            break
        data = inner
    return " ".join(str(data).split())[:500]


def _redact(text: str, key: str | None) -> str:
    """Text without the key, which some servers echo in their refusals."""
    return text.replace(key, "[key]") if key and key != "none" else text


def _milliseconds(value: str | None) -> float | None:
    """Seconds in a retry-after-ms header."""
    try:
        return max(0.0, float(value) / 1000) if value else None
    except ValueError:
        return None


def _asked_wait(body: str) -> float | None:
    """Seconds that an error's own words ask to wait: "try again in 1m30s", "retryDelay": "41s"."""
    found = ASKED_WAIT.search(body)
    if not found:
        return None
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(n) * units[unit] for n, unit in PART_OF_WAIT.findall(found[1]))


def _retry_after(value: str | None) -> float | None:
    """Seconds in a Retry-After header, given as a number or as an HTTP date."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())
