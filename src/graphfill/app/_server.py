"""The page's server: for browsers of this machine that know its token, and for nobody else."""

from __future__ import annotations

import hmac
import json
import secrets
import shutil
import tempfile
import webbrowser
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from io import SEEK_END, BytesIO
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from ..errors import InputError, option
from ._runs import REPORT, Runs

Headers = Mapping[str, str]

HOST = "127.0.0.1"
MOST_BYTES = 1 << 30  # of a file; script.js knows it too
MOST_ASKED = 1 << 20  # of what is asked for a run
SECONDS = 60  # that a browser may keep a request waiting
FILES = {
    "": ("page.html", "text/html"),
    "style.css": ("style.css", "text/css"),
    "script.js": ("script.js", "text/javascript"),
}
COMMANDS = {"check": "check", "fill": "impute"}
# Nothing but what the page itself is made of; the report, in a frame, may not even run scripts.
PAGE_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
}
REPORT_POLICY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox"
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def serve(port: int | None = None, browser: bool = True) -> int:
    """Answer until interrupted; what was uploaded is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="graphfill-") as folder:
        server = Server(Path(folder), port)
        print(f"graphfill is at {server.address}\nCtrl-C ends it; no file stays.", flush=True)
        if browser:
            Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
        finally:
            server.runs.stop()
            server.server_close()
    return 0


class Server(ThreadingHTTPServer):
    """A server on the loopback address, what it runs, and the token that its page is found by."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        try:
            super().__init__((HOST, port or 0), Handler)
        except OSError as error:
            raise InputError(
                f"Port {port} cannot be used ({error.strerror}): name another with "
                f"{option('port')}, or leave it out."
            ) from None
        self.runs, self.token = Runs(folder), secrets.token_urlsafe(24)
        self.address = f"http://{HOST}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no event."""


class Refused(Exception):
    """A request that is not done: its status and a sentence."""


NOTHING = 404, "There is nothing here: open the address that was printed."


class Handler(BaseHTTPRequestHandler):
    """One request: refused unless it comes from the page itself."""

    server: Server
    timeout = SECONDS
    server_version, sys_version = "graphfill", ""

    def _answer(self) -> None:
        try:
            {"GET": self._get, "PUT": self._put, "POST": self._post}[self.command](self._asked())
        except Refused as refused:
            status, sentence = refused.args
            self._send(sentence.encode(), "text/plain", status)
        except InputError as error:
            self._send(str(error).encode(), "text/plain", 409)

    do_GET = do_PUT = do_POST = _answer

    def _get(self, name: str) -> None:
        runs = self.server.runs
        if name in FILES:
            file, kind = FILES[name]
            content = resources.files(__package__).joinpath(file).read_bytes()
            self._send(content, kind, more=PAGE_POLICY)
        elif name == "state":
            self._json(runs.state)
        elif name == "report" and runs.state.get("filled"):
            self._send(runs.folder / REPORT, "text/html", more=REPORT_POLICY)
        elif name == "filled" and runs.state.get("filled"):
            path = runs.folder / runs.state["output"]
            named = f"attachment; filename*=UTF-8''{quote(path.name)}"
            self._send(path, "application/octet-stream", more={"Content-Disposition": named})
        else:
            raise Refused(*NOTHING)

    def _put(self, role: str) -> None:
        if role not in ("table", "edges"):
            raise Refused(*NOTHING)
        size = self._size(MOST_BYTES)
        name = parse_qs(urlsplit(self.path).query).get("name", [role])[0]
        self.server.runs.take(role, name, self.rfile, size)
        self._json({})

    def _post(self, name: str) -> None:
        try:
            asked = json.loads(self.rfile.read(self._size(MOST_ASKED)) or b"{}")
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict) or not isinstance(asked.get("columns", []), list):
            raise Refused(400, "This cannot be read.")
        if name == "stop":
            self.server.runs.stop()
        elif name in COMMANDS:
            self.server.runs.start(COMMANDS[name], asked)
        else:
            raise Refused(*NOTHING)
        self._json({})

    def _asked(self) -> str:
        """What is asked for, after the token."""
        hosts = [f"{host}:{self.server.server_port}" for host in (HOST, "localhost")]
        origins = [f"http://{host}" for host in hosts]
        if self.command == "GET":  # browsers send no origin where a page asks for its own parts
            origins.append("")
        if (
            self.headers.get("Host", "") not in hosts
            or self.headers.get("Origin", "") not in origins
            or self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin")
        ):
            raise Refused(403, "Only the page of this program may ask.")
        start, token, name = [*urlsplit(self.path).path.split("/"), "", ""][:3]
        known = hmac.compare_digest(token.encode(), self.server.token.encode())
        if start or not known or urlsplit(self.path).path != f"/{token}/{name}":
            raise Refused(*NOTHING)
        return name

    def _size(self, most: int) -> int:
        """How long what is sent is."""
        given = self.headers.get("Content-Length", "")
        if not given.isdecimal():
            raise Refused(411, "How long the file is has to be said first.")
        if len(given) > 20 or int(given) > most:
            raise Refused(413, f"Files of more than {most >> 20:,} MB are for the command.")
        return int(given)

    def _json(self, value: Any) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(
        self, content: bytes | Path, kind: str, status: int = 200, more: Headers = HEADERS
    ) -> None:
        with BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
            size = file.seek(0, SEEK_END)
            given = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(size)}
            self.send_response(status)
            for name, value in {**HEADERS, **given, **more}.items():
                self.send_header(name, value)
            self.end_headers()
            file.seek(0)
            shutil.copyfileobj(file, self.wfile)

    def log_message(self, *arguments: Any) -> None:
        """Nothing: addresses hold the token."""
