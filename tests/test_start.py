"""What a new user meets: the first start, the next one, and every way it can go wrong."""

import ast
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import start
from benchmarks import servers

ROOT = Path(__file__).parents[1]
SERVER = """
import http.server, sys

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass

port = next(word.partition("=")[2] for word in sys.argv if word.startswith("--server.port="))
http.server.HTTPServer(("127.0.0.1", int(port)), Health).serve_forever()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with an empty .venv."""
    monkeypatch.setattr(start, "ROOT", tmp_path)
    monkeypatch.setattr(start, "VENV", tmp_path / ".venv")
    (tmp_path / start.CONSTRAINTS).write_text("")
    (tmp_path / "requirements.txt").write_text("numpy\n")
    (tmp_path / "requirements-dev.txt").write_text("-r requirements.txt\n")
    start.venv_python().parent.mkdir(parents=True)
    start.venv_python().touch()
    return tmp_path


@pytest.fixture
def installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requirement files that were installed so far; .venv works and pip always succeeds."""
    done: list[str] = []
    monkeypatch.setattr(start, "works", lambda python: True)
    monkeypatch.setattr(start, "install", lambda python, requirements: done.append(requirements))
    return done


def test_old_python_is_told_what_to_do(tmp_path: Path) -> None:
    """It can read the file, which needs the standard library alone."""
    tree = ast.parse((ROOT / "start.py").read_text("utf-8"), feature_version=(3, 6))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert {alias.name for each in imports for alias in each.names} <= sys.stdlib_module_names
    code = (
        "import runpy, sys; sys.version_info = (3, 9, 2, 'final', 0); "
        "runpy.run_path('start.py', run_name='__main__')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.strip() == (
        "Headscope needs Python 3.11 or newer; this is 3.9.2. "
        "Install it, then run python3.11 start.py"
    )


def test_installs_once_and_again_after_a_change(project: Path, installed: list[str]) -> None:
    """requirements-dev.txt includes requirements.txt, not the other way round."""
    for name in ("requirements.txt", "requirements.txt", "requirements-dev.txt") * 2:
        start.prepare(name)
    assert installed == ["requirements.txt", "requirements-dev.txt"]
    (project / "viz/components").mkdir(parents=True)
    (project / "viz/components/pyproject.toml").write_text("something else\n")
    start.prepare("requirements.txt")
    assert installed == ["requirements.txt", "requirements-dev.txt", "requirements.txt"]


def test_installation_that_failed_is_repeated(
    project: Path, installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-done update must not pass for the old state when the file is put back."""
    start.prepare("requirements.txt")
    before = (project / "requirements.txt").read_text()
    monkeypatch.setattr(start, "install", lambda python, requirements: sys.exit("no network"))
    for text in ("torch\n", before):
        (project / "requirements.txt").write_text(text)
        with pytest.raises(SystemExit, match="no network"):
            start.prepare("requirements.txt")


def test_broken_venv_is_made_anew(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a system upgrade .venv's Python is a newer one, without the packages."""
    made: list[bool] = []
    monkeypatch.setattr(start, "create_venv", lambda: made.append(True))
    monkeypatch.setattr(start, "install", lambda python, requirements: None)
    (project / ".venv/pyvenv.cfg").write_text("version = 3.2.1\n")
    assert not start.works(Path(sys.executable))
    start.prepare("requirements.txt")
    assert made == [True]
    (project / ".venv/pyvenv.cfg").write_text(f"version = {sys.version.split()[0]}\n")
    assert start.works(Path(sys.executable))


def test_port_in_use_gives_the_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))
        assert start.free_port(start.parser("start.py").parse_args([]).port) > port
    assert f"Port {port} is taken; using " in capsys.readouterr().out
    with pytest.raises(SystemExit, match="--port"):
        start.free_port(65536)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    """The server goes with it, without a traceback."""
    shutil.copy(ROOT / "start.py", tmp_path)
    (tmp_path / "streamlit.py").write_text(SERVER)
    port = servers.free_port()
    code = (
        "import signal, start, sys, pathlib\n"
        # a shell's background jobs are told to ignore it, and so is what they start
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "start.prepare = lambda requirements: pathlib.Path(sys.executable)\n"
        f"sys.exit(start.main(['--port', '{port}', '--no-browser']))"
    )
    app = subprocess.Popen(
        [sys.executable, "-u", "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert app.stdout is not None
    assert app.stdout.readline() == f"Headscope is at http://127.0.0.1:{port} (Ctrl-C stops it)\n"
    app.send_signal(number)
    said, _ = app.communicate(timeout=20)
    assert app.returncode == 0
    assert said.strip() == "Stopped."
    assert start.free_port(port) == port  # nothing listens there any more


def test_pretrained_models_are_fetched_unless_small_ones_are_wanted(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the command returns does not matter: the app starts without them."""
    (project / "models").mkdir()
    (project / "models/__init__.py").touch()
    (project / "models/fetch.py").write_text("import sys; print(*sys.argv[1:]); sys.exit(2)")
    start.fetch_models(Path(sys.executable))
    assert capfd.readouterr().out == ""  # MODELS=small, as in all tests
    monkeypatch.delenv("MODELS")
    start.fetch_models(Path(sys.executable))
    assert capfd.readouterr().out == "smollm2 dinov2\n"
