"""Anthropic's messages protocol, by the official client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import msgspec

from seam_lib.core.params import RunParams
from seam_lib.infer.providers import (
    Reply,
    Request,
    answer,
    api_key,
    http_client,
    own_environment,
    post,
    public_url,
    token_count,
)

DEFAULT_URL = "https://api.anthropic.com"


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    thinking: str = ""


class _Message(msgspec.Struct):
    content: list[_Block]
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Any = None  # an answer is not lost for an odd count


class Anthropic:
    """A provider over the official client."""

    def __init__(self, client: anthropic.AsyncAnthropic, settings: RunParams) -> None:
        self.endpoint = public_url(str(client.base_url))
        self._client = client
        self._settings = settings

    async def complete(self, request: Request) -> Reply:
        """Send one request; see `Provider.complete`."""
        body = request_body(self._settings, request)
        return read_reply(
            await post(self._client, "/v1/messages", body, self._settings.timeout_seconds)
        )


@asynccontextmanager
async def connect(settings: RunParams) -> AsyncIterator[Anthropic]:
    """Open the client; its own retries are off, since the runner's are on record."""
    key, url = api_key(settings), settings.base_url or DEFAULT_URL
    with own_environment(settings):
        opened = anthropic.AsyncAnthropic(
            api_key=key,
            base_url=url,
            max_retries=0,
            timeout=None,  # `post` limits the whole exchange
            http_client=http_client(anthropic, url),
        )
    async with opened as client:
        yield Anthropic(client, settings)


def request_body(settings: RunParams, request: Request) -> dict[str, Any]:
    """The JSON of one request. The protocol has no seed, and keeps system messages apart."""
    system = [m["content"] for m in request.messages if m["role"] == "system"]
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [m for m in request.messages if m["role"] != "system"],
        "max_tokens": request.max_tokens,
    }
    if system:
        body["system"] = "\n\n".join(system)
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body | settings.extra_body


def read_reply(data: object) -> Reply:
    """Read the JSON of a message.

    Raises:
        CallError: It is none.
    """
    message = answer(data, _Message)
    report = message.usage if isinstance(message.usage, dict) else {}
    counts = {name: token_count(report.get(name)) for name in ("input_tokens", "output_tokens")}
    usage = {name: count for name, count in counts.items() if count is not None}
    return Reply(
        text="".join(block.text for block in message.content if block.type == "text"),
        finish_reason=message.stop_reason,
        served_model=message.model,
        usage=usage if len(usage) == len(counts) else {},
        reasoning="".join(block.thinking for block in message.content),
        raw={"id": message.id} if message.id else {},
    )
