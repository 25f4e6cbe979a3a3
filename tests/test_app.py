"""The app from outside, however it is started: the same pages, headers and API."""

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pytest

import start
from benchmarks import servers
from viz.pages.frame import registry

WAYS = {
    "streamlit run app.py": ["-m", "streamlit", "run", "app.py", "--server.headless=true"],
    "uvicorn app:app": ["-m", "uvicorn", "app:app", "--port={port}", "--log-level=warning"],
    "python app.py": ["app.py"],
    # all is installed: what a second start does
    "make app": [
        "-c",
        "import pathlib, sys, start;"
        "start.prepare = lambda requirements: pathlib.Path(sys.executable);"
        "sys.exit(start.main(['--no-browser', '--port={port}']))",
    ],
}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Server:
    """A running app."""

    port: int
    log: Path

    def get(self, path: str, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()


@pytest.fixture(scope="module", params=WAYS, ids=lambda way: way.replace(" ", "-"))
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Server, None, None]:
    """The app, started in one of its ways."""
    port = servers.free_port()
    log = tmp_path_factory.mktemp("app") / "server.log"
    command = [sys.executable, *(part.format(port=port) for part in WAYS[request.param])]
    settings = {"STREAMLIT_SERVER_PORT": str(port), "PORT": str(port)}
    with log.open("wb") as output:
        running = subprocess.Popen(
            command,
            cwd=start.ROOT,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            if not start.answers(running, port):
                pytest.fail(f"it did not start:\n{log.read_text()}", pytrace=False)
            yield Server(port, log)
        finally:
            start.stop(running)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0, "the server outlived its parent"


def test_every_page_is_there(server: Server) -> None:
    paths = {name: "" if name == registry.FIRST else name for name in registry.ENTRIES}
    for name, path in paths.items():
        answer = server.get(f"/{path}")
        assert answer.status == 200
        assert f"<title>{escape(registry.preview(name, {}).title)} · " in answer.body.decode()
    first = server.get("/text?head=max")
    assert (first.status, first.headers["location"]) == (307, "./?head=max")


@pytest.mark.parametrize("path", ["/", "/course", "/api/trace/x/overview", "/_stcore/health"])
def test_every_answer_has_the_headers(server: Server, path: str) -> None:
    headers = server.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "script-src 'self' 'sha256-" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy


def test_the_api_answers_and_checks_who_asks(server: Server) -> None:
    assert server.get("/api/trace/unknown/overview").status == 410
    assert server.get("/api/trace/unknown/overview", Host="evil.example").status == 400
    assert server.get("/api/trace/unknown/overview", Origin="http://evil.example").status == 403
    assert server.get("/api/trace/unknown/overview", Host=f"localhost:{server.port}").status == 410


def test_only_this_machine_is_served(server: Server) -> None:
    with socket.socket() as probe:
        probe.settimeout(5)
        address = socket.gethostbyname(socket.gethostname())
        if address.startswith("127."):
            return  # no other address to try
        assert probe.connect_ex((address, server.port)) != 0


def test_streamlit_s_settings_serve_the_network(tmp_path: Path) -> None:
    """As docs/using.md has it, with a name of this server that is none of its machine."""
    port, names = servers.free_port(), "localhost 127.0.0.1 192.0.2.7"
    address = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "STREAMLIT_SERVER_ALLOWED_HOSTS": names}
    with servers.served(port, **address):
        server = Server(port, tmp_path)
        path = "/api/trace/unknown/overview"
        assert server.get(path, Host=f"192.0.2.7:{port}").status == 410
        assert server.get(path, Host="evil.example").status == 400
        assert "ws://192.0.2.7:*" in server.get("/").headers["content-security-policy"]
        with socket.socket() as probe:
            assert probe.connect_ex((socket.gethostbyname(socket.gethostname()), port)) == 0


def test_it_starts_without_a_complaint(server: Server) -> None:
    words = server.log.read_text(encoding="utf-8", errors="replace").lower()
    assert not [word for word in ("traceback", "error", "warning") if word in words], words
