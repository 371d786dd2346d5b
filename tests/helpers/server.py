"""A model server on 127.0.0.1 that speaks both official protocols and misbehaves when told to.

`serving(script, answer)` asks `script(body, seen)` for the mode of each request, a key of `MODES`
or a status; `answer(message)` makes the text. A new mode is a line in `MODES`.
"""

import hashlib
import json
import re
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: A request's body and how often its message came before -> mode.
Script = Callable[[dict[str, Any], int], str]

#: The modes that a client survives by calling again.
PASSING = (
    "408", "409", "429", "500", "503", "529", "hang", "drip", "reset", "short", "truncated",
    "html", "no choice", "error in 200",
)  # fmt: skip
#: The modes after which it draws another answer, under a tag.
UNUSABLE = ("empty", "null", "length", "empty length")


# --- Answers --------------------------------------------------------------------------------------


def edited(message: str) -> str:
    """An answer that only the message decides."""
    return f"edited {hashlib.sha256(message.encode()).hexdigest()[:12]} ünïcode\n"


#: Messages of a hundred in which the stand-in keeps the comment, without and with tags.
BARE, TAGGED = 45, 10
_TAGGED = re.compile(r"<pasted-artifact-\w+>\n(.*)\n</pasted-artifact-\w+>", re.DOTALL)


def stand_in(message: str) -> str:
    """The text below the task, with the comment in some answers: seldom outside boundary tags."""
    text = message.partition("\n\n")[2]
    tagged = _TAGGED.search(text)
    if tagged:
        comment = text[tagged.end() :].strip()
        return f"{tagged[1]}\n{comment}" if lot(message) < TAGGED else tagged[1]
    return text if lot(message) < BARE else "\n".join(text.splitlines()[:-1]).strip() or text


def lot(message: str) -> int:
    """A number from 0 to 99 that only the message decides."""
    return int(hashlib.sha256(message.encode()).hexdigest(), 16) % 100


def departs(message: str) -> bool:
    """Whether the stand-in's first answer is cut off, so that a retry departs."""
    return lot(message) >= 94


def openai_reply(model: str, text: str | None, finish: str) -> dict[str, Any]:
    """A chat completion, as OpenAI's API and vLLM send it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def anthropic_reply(model: str, text: str | None, finish: str) -> dict[str, Any]:
    """A message, as Anthropic's API sends it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}[finish],
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def responses_reply(model: str, text: str | None, finish: str) -> dict[str, Any]:
    """A response, as OpenAI's newer API sends it: Inspect asks some models this way."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_780_000_000,
        "model": model,
        "status": {"stop": "completed", "length": "incomplete"}[finish],
        "output": [message | {"content": content}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
        | {"input_tokens_details": {"cached_tokens": 0}}
        | {"output_tokens_details": {"reasoning_tokens": 0}},
    }


#: The protocols, by the last part of a request's path.
PROTOCOLS = {
    "completions": openai_reply,
    "messages": anthropic_reply,
    "responses": responses_reply,
}


def asked(body: dict[str, Any]) -> str:
    """The message of a request, in any protocol."""
    given = body.get("messages") or body["input"]
    content = given if isinstance(given, str) else given[-1]["content"]  # Inspect's warm-up
    return content if isinstance(content, str) else content[0]["text"]


def run_batch(
    batch: Path, results: Path, answer: Callable[[str], str] = edited, **change: Any
) -> None:
    """Answer a file of calls as OpenAI and vLLM do: another order, one JSON object a line."""
    lines = []
    for call in map(json.loads, batch.read_text(encoding="utf-8").splitlines()):
        assert (call["method"], call["url"]) == ("POST", "/v1/chat/completions")
        text = answer(asked(call["body"]))
        body = openai_reply("served-model", text, "stop") | change
        response = {"status_code": 200, "request_id": "r", "body": body}
        line = {"id": "b", "custom_id": call["custom_id"], "response": response, "error": None}
        lines.append(json.dumps(line) + "\n")
    results.write_text("".join(reversed(lines)), encoding="utf-8")


# --- Serving --------------------------------------------------------------------------------------


@dataclass
class Server:
    """What a test sees of the server, and may change while it runs."""

    script: Script
    answer: Callable[[str], str]
    key: str | None = None
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    open: int = 0
    most_open: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


def well(body: dict[str, Any], seen: int) -> str:
    """The script of a server that always answers well."""
    return "ok"


def first_cut_off(body: dict[str, Any], seen: int) -> str:
    """The stand-in's script: some answers of the run's own decoding are cut off."""
    cut = body.get("temperature") == 0 and departs(asked(body))
    return "length" if cut else "ok"


@contextmanager
def serving(
    script: Script = well, answer: Callable[[str], str] = edited, key: str | None = None
) -> Iterator[Server]:
    """Serve a model on a free port for a while; `key` is the one that is accepted."""
    state = Server(script, answer, key)
    with listening(type("Call", (Call,), {"state": state})) as state.url:
        try:
            yield state
        finally:
            state.stopped.set()


@contextmanager
def listening(handler: type["Handler"]) -> Iterator[str]:
    """Serve any handler on a free port; gives the address."""
    server = _Quiet(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # else the client hung up, as it should
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Sends bytes, or the span of them that is asked for, and stays silent about it."""

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def send(self, data: bytes, status: int = 200, **headers: str) -> None:
        if status == 200 and (span := self.headers.get("Range")):
            start, _, end = span.removeprefix("bytes=").partition("-")
            total, status = len(data), 206
            data = data[int(start) : int(end or total) + 1]
            headers["Content_Range"] = f"bytes {start}-{int(start) + len(data) - 1}/{total}"
        usual = {"Content_Type": "application/json", "Content_Length": str(len(data))}
        self.send_response(status)
        for name, value in (usual | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class Call(Handler):
    """One request to the model."""

    state: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        state = self.state
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.given = self.headers.get("x-api-key") or self.headers.get("Authorization", "")
        message = asked(self.body)
        with state.lock:
            seen = state.counts[message]
            state.counts[message] += 1
            state.bodies.append(self.body)
            state.heads.append(str(self.headers))
            state.open += 1
            state.most_open = max(state.most_open, state.open)
        mode = state.script(self.body, seen)
        with state.lock:
            state.open -= 1
        if state.key and state.key not in self.given:
            mode = "401"
        self.text: str | None = state.answer(message)
        if mode in MODES:
            MODES[mode](self)
        else:
            self.refuse(int(mode), f"status {mode}")

    def reply(self, finish: str = "stop", **change: Any) -> bytes:
        """The answer in the protocol of the request's path."""
        write = PROTOCOLS[self.path.rpartition("/")[2]]
        return json.dumps(write("served-model", self.text, finish) | change).encode()

    def say(self, text: str | None, finish: str = "stop") -> None:
        self.text = text
        self.send(self.reply(finish))

    def refuse(self, status: int, message: str, **headers: str) -> None:
        error = {"type": "error", "error": {"type": "some", "message": message}}
        self.send(json.dumps(error).encode(), status, **headers)

    def cut(self, share: float, **headers: str) -> None:
        """Send the beginning of the answer alone."""
        data = self.reply()
        self.send(data[: int(share * len(data))], **headers)


def _hang(call: Call) -> None:
    call.state.stopped.wait()
    call.close_connection = True


def _reset(call: Call) -> None:
    linger = struct.pack("ii", 1, 0)  # close with RST
    call.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    call.connection.close()
    call.close_connection = True


def _short(call: Call) -> None:
    call.cut(0.5, Content_Length=str(len(call.reply())))
    call.close_connection = True


def _drip(call: Call) -> None:
    data = call.reply()
    call.send(b"", Content_Length=str(len(data)))
    for byte in data:
        if call.state.stopped.wait(0.05):
            break
        call.wfile.write(bytes([byte]))


#: What a server may do, by name.
MODES: dict[str, Callable[[Call], None]] = {
    "ok": lambda call: call.say(call.text),
    "empty": lambda call: call.say(""),
    "null": lambda call: call.say(None),
    "length": lambda call: call.say(call.text, "length"),
    "empty length": lambda call: call.say("", "length"),
    "thinking": lambda call: call.say(f"<think>\nIs it a note?\n</think>\n\n{call.text}"),
    "thinking opened by the template": lambda call: call.say(f"A note?\n</think>\n\n{call.text}"),
    "thinking in channels": lambda call: call.say(
        f"<|channel|>analysis<|message|>A note?<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{call.text}<|return|>"
    ),
    "thinking without end": lambda call: call.say("<think>\nIs it a note, or is it"),
    "surrogate": lambda call: call.say(f"{call.text}\ud83d\x00"),
    "hang": _hang,
    "reset": _reset,
    "drip": _drip,
    "short": _short,
    "truncated": lambda call: call.cut(0.5),
    "wrong type": lambda call: call.send(call.reply(), Content_Type="text/plain"),
    "html": lambda call: call.send(b"<html>gateway</html>", Content_Type="text/html"),
    "no choice": lambda call: call.send(call.reply(choices=[])),
    "error in 200": lambda call: call.send(b'{"error": {"message": "upstream busy", "code": 502}}'),
    "429": lambda call: call.refuse(429, "slow down", Retry_After="0.05"),
    "429 bare": lambda call: call.refuse(429, "slow down"),
    "429 long": lambda call: call.refuse(429, "come back tomorrow", Retry_After="86400"),
    "limit": lambda call: call.refuse(400, "You have reached your specified API usage limits."),
    "echo key": lambda call: call.refuse(401, f"Incorrect API key provided: {call.given}"),
}
