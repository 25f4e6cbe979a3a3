"""`make desktop` with a real browser: its window shows the app, and closing it ends the server."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

import start
from benchmarks import servers
from tests.browser.chromium import installed_browser, launch_arguments, playwright_browser

pytestmark = pytest.mark.browser
PATIENCE = 60  # seconds


@pytest.fixture(autouse=True)
def _own_ctrl_c() -> Generator[None, None, None]:
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def _without_a_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser of the tests, drawing nowhere, stands for the one on the PATH."""
    found, options = installed_browser() or playwright_browser(), launch_arguments()
    script = tmp_path / "chromium"
    script.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"os.execv({found!r}, [{found!r}, '--headless=new', *{options!r}, *sys.argv[1:]])\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(start, "APP_BROWSERS", (str(script),))
    monkeypatch.setattr(start, "output", lambda command: (False, "no pywebview here"))


@pytest.mark.usefixtures("_without_a_screen")
def test_closing_the_window_ends_the_server() -> None:
    port = servers.free_port()
    connected: list[bool] = []

    def show(python: Path, url: str) -> "subprocess.Popen[bytes] | None":
        window = start.desktop_window(python, url)
        assert window is not None

        def close() -> None:
            connected.append(connects(window.pid, port))
            window.terminate()

        threading.Thread(target=close, daemon=True).start()
        return window

    assert start.serve(Path(sys.executable), port, show) == 0
    assert connected == [True]
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def connects(pid: int, port: int) -> bool:
    """Whether a browser reaches the server in time."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        browser = psutil.Process(pid)
        for process in (browser, *browser.children(recursive=True)):
            try:
                connections = process.net_connections("tcp")
            except psutil.Error:
                continue
            if any(found.raddr and found.raddr.port == port for found in connections):
                return True
        time.sleep(0.05)
    return False
