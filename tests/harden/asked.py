"""Requests of every kind to the page's server, most of them wrong: each is answered or cut off.

python tests/harden/asked.py SEED FIRST LAST

A line per request. The server must go on, raise nothing, keep no file outside its folder, and
answer nobody without its token.
"""

import random
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from threading import Thread

from graphfill.app._server import Server
from graphfill.errors import InputError

BODIES = (
    b"", b"{}", b"[]", b'{"columns": 3}', b"[" * 30_000, b'{"options": "--save=x"}', b"\xff\0",
    b'{"columns": ["a\\u0000"], "options": "--id=\\u0000"}', b'{"options": {"a": 1}}',
)  # fmt: skip
NAMES = ("table", "edges", "fill", "check", "stop", "state", "report", "filled", "", "..", "x")
FILES = (
    "a.csv",
    "../a.csv",
    "/etc/a",
    "..\\a",
    "",
    "a\0b",
    "%00",
    "-o",
    "a" * 9000,
    "\u202egpj.csv",
)
SIZES = ("-1", "1e9", "9" * 5000, "\u0663", "", "0x10")


def request(server: Server, rng: random.Random) -> tuple[bytes, bool]:
    """A request, and whether it comes from the page."""
    host = f"127.0.0.1:{server.server_port}"
    right = rng.random() < 0.7
    token = server.token if right else rng.choice(("", "x", server.token[:-1], "é"))
    path = f"/{token}/{rng.choice(NAMES)}" + rng.choice(
        ("", f"?name={rng.choice(FILES)}", "?", "#")
    )
    body = rng.choice(BODIES)
    length = rng.choice(SIZES) if rng.random() < 0.2 else str(len(body))
    known = right and rng.random() < 0.8
    origin = f"http://{host}" if known else rng.choice(("null", "http://example.org", ""))
    lines = [f"{rng.choice(('GET', 'PUT', 'POST', 'HEAD', 'X'))} {path} HTTP/1.1", f"Host: {host}",
             f"Origin: {origin}", f"Content-Length: {length}", "Connection: close"]  # fmt: skip
    whole = bytearray("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    if rng.random() < 0.3:
        whole[rng.randrange(len(whole))] = rng.randrange(256)
    return bytes(whole), known


def outcome(server: Server, folder: Path, rng: random.Random) -> str:
    sent, known = request(server, rng)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as line:
        answer = b""
        with suppress(OSError):
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while part := line.recv(1 << 16):
                answer += part
    status = answer[9:12]
    if b"Traceback" in answer or raised:
        return f"raised {raised.pop() if raised else answer[:200]!r}"
    if status == b"200" and not known and b"script.js" not in answer:
        origin = sent.partition(b"Origin: ")[2].partition(b"\r")[0]
        if server.token.encode() not in sent or (origin and b"127.0.0.1" not in origin):
            return f"answered {sent[:200]!r}"
    if {path.name for path in folder.iterdir()} - {"files", "said.json"}:
        return "wrote elsewhere"
    return "filled" if status == b"200" else "refused"


raised: list[str] = []
EXPECTED = (InputError, ConnectionError, TimeoutError)


def note(server, request, client_address):
    """What a request ended with."""
    if not isinstance(sys.exc_info()[1], EXPECTED):
        raised.append(traceback.format_exc())


if __name__ == "__main__":
    seed, first, last = map(int, sys.argv[1:])
    Server.handle_error = note
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), None)
        Thread(target=server.serve_forever, daemon=True).start()
        for number in range(first, last):
            print(number, end=" ", flush=True)
            print(outcome(server, Path(name), random.Random(f"{seed} {number}")), flush=True)
        server.runs.stop()
        server.shutdown()
