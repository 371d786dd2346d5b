"""Any server that speaks OpenAI's chat protocol: OpenAI, OpenRouter, DeepInfra, vLLM, llama.cpp."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import openai

from seam_lib.core.params import RunParams
from seam_lib.infer.providers import (
    CallError,
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

DEFAULT_URL = "https://api.openai.com/v1"


class _Message(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None  # DeepSeek, vLLM, llama.cpp
    reasoning: str | None = None  # OpenRouter
    refusal: str | None = None  # OpenAI: why it declines, in place of the content


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    error: Any = None  # OpenRouter: its upstream failed in the middle of the answer


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    id: str | None = None
    model: str | None = None
    usage: Any = None  # an answer is not lost for an odd count
    system_fingerprint: str | None = None
    provider: str | None = None  # OpenRouter: who really served it


class OpenAI:
    """A provider over the official client."""

    def __init__(self, client: openai.AsyncOpenAI, settings: RunParams) -> None:
        self.endpoint = public_url(str(client.base_url))
        self._client = client
        self._settings = settings

    async def complete(self, request: Request) -> Reply:
        """Send one request; see `Provider.complete`."""
        body = request_body(self._settings, request)
        seconds = self._settings.timeout_seconds
        return read_reply(await post(self._client, "/chat/completions", body, seconds))


@asynccontextmanager
async def connect(settings: RunParams) -> AsyncIterator[OpenAI]:
    """Open the client; its own retries are off, since the runner's are on record."""
    key, url = api_key(settings), settings.base_url or DEFAULT_URL
    with own_environment(settings):
        opened = openai.AsyncOpenAI(
            api_key=key,
            base_url=url,
            max_retries=0,
            timeout=None,  # `post` limits the whole exchange
            http_client=http_client(openai, url),
        )
    async with opened as client:
        yield OpenAI(client, settings)


def request_body(settings: RunParams, request: Request) -> dict[str, Any]:
    """The JSON of one request, as sent and as exported to batch files."""
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": request.messages,
        settings.max_tokens_field: request.max_tokens,
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.seed is not None:
        body["seed"] = request.seed
    return body | settings.extra_body


def read_reply(data: object) -> Reply:
    """Read the JSON of a chat completion.

    Raises:
        CallError: It is none, or it holds no choice.
    """
    completion = answer(data, _Completion)
    if not completion.choices:
        raise CallError("malformed", "the answer holds no choice")
    choice = completion.choices[0]
    kept = {
        "id": completion.id,
        "system_fingerprint": completion.system_fingerprint,
        "provider": completion.provider,
        "refusal": choice.message.refusal,
        "error": choice.error,
    }
    return Reply(
        text=choice.message.content,
        finish_reason=_ending(choice),
        served_model=completion.model,
        usage=billed_tokens(completion.usage),
        reasoning=choice.message.reasoning_content or choice.message.reasoning or "",
        raw={name: value for name, value in kept.items() if value},
    )


def billed_tokens(usage: Any) -> dict[str, int]:
    """The tokens that are billed; none if the report lacks a count, so that the worst is assumed.

    Some servers count hidden reasoning in the total alone, so the answer has what the prompt leaves
    of the total, where that is more.
    """
    report = usage if isinstance(usage, dict) else {}
    details = report.get("completion_tokens_details")
    prompt, completion, total, reasoning = (
        token_count(value)
        for value in (
            *map(report.get, ("prompt_tokens", "completion_tokens", "total_tokens")),
            details.get("reasoning_tokens") if isinstance(details, dict) else None,
        )
    )
    if prompt is None or completion is None:
        return {}
    found = {"input_tokens": prompt, "output_tokens": max(completion, (total or 0) - prompt)}
    return found | ({"reasoning_tokens": reasoning} if reasoning else {})


def _ending(choice: _Choice) -> str | None:
    """Why an answer ended: its own word, unless the choice says elsewhere that it is none."""
    if choice.error:
        return "error"
    return "refusal" if choice.message.refusal else choice.finish_reason
