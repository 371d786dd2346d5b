"""A stand-in for a model: a server of both protocols, whose answers a digest decides.

It returns the text below the task and keeps the comment in some of the messages: often at a bare
seam, seldom outside boundary tags. Some first answers are cut off, so that a retry departs.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Messages of a hundred in which the comment stays, without and with tags, and that are cut off.
BARE, TAGGED, CUT_OFF = 45, 10, 6

_TAGGED = re.compile(r"<pasted-artifact-\w+>\n(.*)\n</pasted-artifact-\w+>", re.DOTALL)


def edit(message: str) -> str:
    """The stand-in's answer to a message of the benchmark."""
    text = message.partition("\n\n")[2]
    tagged = _TAGGED.search(text)
    if tagged:
        comment = text[tagged.end() :].strip()
        return f"{tagged[1]}\n{comment}" if lot(message) < TAGGED else tagged[1]
    return text if lot(message) < BARE else "\n".join(text.splitlines()[:-1]).strip() or text


def lot(message: str) -> int:
    """A number from 0 to 99 that only the message decides."""
    return int(hashlib.sha256(message.encode()).hexdigest(), 16) % 100


def chat(body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request of OpenAI's protocol."""
    message = body["messages"][-1]["content"]
    cut_off = body.get("temperature") == 0 and lot(message) >= 100 - CUT_OFF
    choice = {
        "message": {"role": "assistant", "content": edit(message)},
        "finish_reason": "length" if cut_off else "stop",
    }
    usage = {"prompt_tokens": len(message) // 4, "completion_tokens": len(message) // 5}
    return {"id": "standin", "model": body["model"], "choices": [choice], "usage": usage}


def message(body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request of Anthropic's protocol."""
    text = edit(body["messages"][-1]["content"])
    content = [{"type": "text", "text": text}]
    return {"id": "standin", "model": body["model"], "content": content, "stop_reason": "end_turn"}


def batch(calls: str) -> str:
    """The results of a file of OpenAI's batch format; none is cut off."""
    results = []
    for call in map(json.loads, calls.splitlines()):
        response = {"status_code": 200, "body": chat(call["body"] | {"temperature": 1})}
        results.append({"custom_id": call["custom_id"], "response": response, "error": None})
    return "".join(f"{json.dumps(result)}\n" for result in results)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = message(body) if self.path.endswith("/messages") else chat(body)
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@contextmanager
def serving() -> Iterator[str]:
    """Serve the stand-in on a free local port; yields its base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
