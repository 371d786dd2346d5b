"""A model server on 127.0.0.1 that fails as real ones do, and speaks both official protocols."""

import hashlib
import json
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: The behaviours that a client survives by calling again.
PASSING = (
    "408", "409", "429", "500", "503", "529", "hang", "drip", "reset", "short", "truncated",
    "html", "no choice", "error in 200",
)  # fmt: skip
#: The behaviours after which it draws another answer, under a tag.
UNUSABLE = ("empty", "null", "length", "empty length")


#: A request's body and how often its message came before -> behaviour.
Script = Callable[[dict[str, Any], int], str]


@dataclass
class Server:
    """What a test sees of the server."""

    script: Script
    url: str = ""
    key: str | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    open: int = 0
    most_open: int = 0
    served_model: str = "served-model"
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


def edited(message: str) -> str:
    """The answer to a message: the same one each time."""
    return f"edited {hashlib.sha256(message.encode()).hexdigest()[:12]} ünïcode\n"


@contextmanager
def serving(script: Script, **fields: Any) -> Iterator[Server]:
    """Serve on a free port for a while."""
    state = Server(script, **fields)

    class Bound(_Handler):
        server_state = state

    server = _Quiet(("127.0.0.1", 0), Bound)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.stopped.set()
        server.shutdown()
        server.server_close()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # else the client hung up, as it should
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server_state: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_POST(self) -> None:
        state = self.server_state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = body["messages"][-1]["content"]
        with state.lock:
            seen = state.counts[message]
            state.counts[message] += 1
            state.bodies.append(body)
            state.open += 1
            state.most_open = max(state.most_open, state.open)
        behaviour = state.script(body, seen)
        with state.lock:
            state.open -= 1
        given = self.headers.get("x-api-key") or self.headers.get("Authorization", "")
        if state.key and state.key not in given:
            behaviour = "401"
        self.behave(behaviour, self.completion(body, message, behaviour), given)

    def behave(self, behaviour: str, answer: bytes, given: str) -> None:
        match behaviour:
            case "hang":
                self.server_state.stopped.wait(5)
                self.close_connection = True
            case "reset":
                linger = struct.pack("ii", 1, 0)  # close with RST
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
            case "truncated":
                self.send(200, answer[: len(answer) // 2])
            case "short":
                self.send(200, answer[: len(answer) // 2], claim=len(answer))
                self.close_connection = True
            case "wrong type":
                self.send(200, answer, kind="text/plain")
            case "html":
                self.send(200, b"<html>gateway</html>", kind="text/html")
            case "error in 200":
                self.send(200, b'{"error": {"message": "upstream busy", "code": 502}}')
            case "drip":
                self.send(200, b"", claim=len(answer))
                for byte in answer:
                    if self.server_state.stopped.wait(0.05):
                        break
                    self.wfile.write(bytes([byte]))
            case "429":
                self.send(429, _error("slow down"), retry_after="0.05")
            case "429 long":
                self.send(429, _error("come back tomorrow"), retry_after="86400")
            case "limit":
                self.send(400, _error("You have reached your specified API usage limits."))
            case "echo key":
                self.send(401, _error(f"Incorrect API key provided: {given}"))
            case _ if behaviour.isdigit():
                self.send(int(behaviour), _error(f"status {behaviour}"))
            case _:
                self.send(200, answer)

    def send(
        self,
        status: int,
        data: bytes,
        *,
        kind: str = "application/json",
        claim: int | None = None,
        retry_after: str | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if claim is None else claim))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(data)

    def completion(self, body: dict[str, Any], message: str, behaviour: str) -> bytes:
        text: str | None = edited(message)
        finish = "length" if "length" in behaviour else "stop"
        if behaviour.startswith("empty"):
            text = ""
        if behaviour == "null":
            text = None
        if self.path.endswith("/messages"):
            return _anthropic(self.server_state.served_model, text, finish)
        return _openai(self.server_state.served_model, text, finish, behaviour)


def _openai(model: str, text: str | None, finish: str, behaviour: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    data: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": model,
        "choices": [] if behaviour == "no choice" else [choice | {"finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    return json.dumps(data).encode()


def _anthropic(model: str, text: str | None, finish: str) -> bytes:
    data = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}[finish],
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }
    return json.dumps(data).encode()


def _error(message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": "some", "message": message}}).encode()
