"""What a new user meets: the first start, the next one, and every way it can go wrong."""

import ast
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

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
    """A project folder with a .venv that pip believes in, and no network in sight."""
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


@pytest.fixture
def own_ctrl_c() -> Generator[None, None, None]:
    """Give Ctrl-C back to pytest after a test that stopped a server in this process."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


def run_as(version: tuple[int, int, int], path: str) -> subprocess.CompletedProcess[str]:
    code = (
        f"import runpy, sys; sys.version_info = {(*version, 'final', 0)}; "
        "runpy.run_path('start.py', run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_old_python_is_told_what_to_do(tmp_path: Path) -> None:
    ran = run_as((3, 9, 2), str(tmp_path))
    assert ran.returncode == 1
    assert ran.stderr.strip() == (
        "Headscope needs Python 3.11 or newer; this is 3.9.2. "
        "Install it, then run python3.11 start.py"
    )


def test_old_python_can_read_it() -> None:
    """Its message would otherwise be a syntax error."""
    ast.parse((ROOT / "start.py").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_only_the_standard_library() -> None:
    tree = ast.parse((ROOT / "start.py").read_text(encoding="utf-8"))
    names = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_installs_once(installed: list[str]) -> None:
    for _ in range(3):
        start.prepare("requirements.txt")
    assert installed == ["requirements.txt"]


@pytest.mark.parametrize("changed", ["requirements.txt", "viz/components/pyproject.toml"])
def test_installs_again_after_a_change(project: Path, installed: list[str], changed: str) -> None:
    start.prepare("requirements.txt")
    (project / changed).parent.mkdir(parents=True, exist_ok=True)
    (project / changed).write_text("something else\n")
    start.prepare("requirements.txt")
    assert installed == ["requirements.txt"] * 2


def test_app_is_ready_after_the_tests(installed: list[str]) -> None:
    """requirements-dev.txt includes requirements.txt, not the other way round."""
    start.prepare("requirements.txt")
    start.prepare("requirements-dev.txt")
    start.prepare("requirements.txt")
    assert installed == ["requirements.txt", "requirements-dev.txt"]


def test_interrupted_installation_is_repeated(
    installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(python: Path, requirements: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(start, "install", interrupted)
        with pytest.raises(KeyboardInterrupt):
            start.prepare("requirements.txt")
    start.prepare("requirements.txt")
    assert installed == ["requirements.txt"]


def test_update_that_failed_is_repeated(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A half-done update must not pass for the old state when the file is put back."""
    monkeypatch.setattr(start, "works", lambda python: True)
    monkeypatch.setattr(start, "install", lambda python, requirements: None)
    start.prepare("requirements.txt")
    before = (project / "requirements.txt").read_text()
    (project / "requirements.txt").write_text("torch\n")
    monkeypatch.setattr(start, "install", lambda python, requirements: sys.exit("no network"))
    with pytest.raises(SystemExit, match="no network"):
        start.prepare("requirements.txt")
    (project / "requirements.txt").write_text(before)
    with pytest.raises(SystemExit, match="no network"):
        start.prepare("requirements.txt")


def test_broken_venv_is_made_anew(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    monkeypatch.setattr(start, "create_venv", lambda: made.append(True))
    monkeypatch.setattr(start, "install", lambda python, requirements: None)
    start.prepare("requirements.txt")
    assert made == [True]


def test_venv_of_another_python_does_not_work(project: Path) -> None:
    """After a system upgrade .venv's Python is a newer one, without the packages."""
    python = start.venv_python()
    python.unlink()
    (project / ".venv/pyvenv.cfg").write_text("version = 3.2.1\n")
    assert not start.works(python)
    assert not start.works(Path(sys.executable))
    (project / ".venv/pyvenv.cfg").write_text(f"version = {sys.version.split()[0]}\n")
    assert start.works(Path(sys.executable))


def test_missing_venv_module(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "The virtual environment was not created successfully because ensurepip is not available"
    monkeypatch.setattr(start, "output", lambda command: (False, said))
    with pytest.raises(SystemExit, match="apt install python3-venv"):
        start.create_venv()


@pytest.mark.parametrize(
    ("said", "todo"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("Retrying: NewConnectionError('Name or service not known')", "Check the network"),
        ("ERROR: No matching distribution found for torch==2.13.0", "Try another Python"),
        ("error: something else", "remove .venv"),
    ],
)
def test_failed_installation_says_what_to_do(said: str, todo: str) -> None:
    assert todo in start.advice(said)


def test_pip_failure_shows_its_last_lines(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "requirements.txt").write_text("--no-index\nheadscope-has-no-such-package\n")
    with pytest.raises(SystemExit, match="No matching distribution") as stopped:
        start.install(Path(sys.executable), "requirements.txt")
    assert "pip could not install requirements.txt" in str(stopped.value)
    assert "Installing requirements.txt" in capsys.readouterr().out


def test_what_was_installed_is_compiled_but_for_tests(project: Path) -> None:
    package = project / ".venv/lib/python3.11/site-packages/some"
    for name in ("here.py", "tests/not.py", "old.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("print 1" if name == "old.py" else "x = 1\n")
    start.compile_all(Path(sys.executable))
    made = [file.name.partition(".")[0] for file in project.rglob("*.pyc")]
    assert made == ["here"]


def test_large_downloads_are_shown() -> None:
    wheel = "pillow-13.0.0-cp311-cp311-manylinux_2_27_x86_64.whl"
    assert start.noteworthy(f"  Downloading {wheel} (7.1 MB)\n") == "pillow-13.0.0  7.1 MB"
    assert start.noteworthy("  Downloading click-8.5.1-py3-none-any.whl (126 kB)\n") == ""
    assert start.noteworthy("Installing collected packages: a, b\n") == "unpacking"


def test_busy_port_gives_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert start.free_port(port) > port
    assert f"Port {port} is taken; using " in capsys.readouterr().out


def test_no_port_left() -> None:
    with pytest.raises(SystemExit, match="--port"):
        start.free_port(65536)


def test_port_comes_from_option_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PORT", raising=False)
    assert start.parser("start.py").parse_args([]).port == start.PORT
    monkeypatch.setenv("PORT", "7919")
    assert start.parser("start.py").parse_args([]).port == 7919
    assert start.parser("start.py").parse_args(["--port", "7907"]).port == 7907


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
    assert not listening(port)


@pytest.mark.usefixtures("own_ctrl_c")
def test_server_that_dies_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "streamlit.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(start, "ROOT", tmp_path)
    assert start.serve(Path(sys.executable), servers.free_port(), None) == 3
    assert "Headscope did not start" in capsys.readouterr().out


@pytest.mark.usefixtures("own_ctrl_c")
def test_server_that_answers_with_an_error_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "streamlit.py").write_text(SERVER.replace("200", "500"))
    monkeypatch.setattr(start, "ROOT", tmp_path)
    port = servers.free_port()
    assert start.serve(Path(sys.executable), port, None) == 1
    assert "Headscope did not start" in capsys.readouterr().out
    assert not listening(port)


@pytest.mark.usefixtures("own_ctrl_c")
def test_server_ends_with_its_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "streamlit.py").write_text(SERVER)
    monkeypatch.setattr(start, "ROOT", tmp_path)
    port = servers.free_port()
    shown = []

    def window(python: Path, url: str) -> "subprocess.Popen[bytes]":
        shown.append(url)
        return subprocess.Popen([str(python), "-c", "pass"])

    assert start.serve(Path(sys.executable), port, window) == 0
    assert shown == [f"http://127.0.0.1:{port}"]
    assert not listening(port)


def test_window_of_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "chromium"
    browser.write_text(f"#!{sys.executable}\nimport sys\nprint(*sys.argv[1:], sep='\\n')\n")
    browser.chmod(0o755)
    monkeypatch.setattr(start, "APP_BROWSERS", (str(browser),))
    monkeypatch.setattr(start, "output", lambda command: (False, "No module named webview"))
    window = start.desktop_window(Path(sys.executable), "http://127.0.0.1:8501")
    assert window is not None
    assert window.wait(timeout=30) == 0
    assert isinstance(window.args, list)
    assert window.args[1] == "--app=http://127.0.0.1:8501"


def test_without_a_window_a_tab_is_opened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = []
    monkeypatch.setattr(start, "APP_BROWSERS", ())
    monkeypatch.setattr(start, "output", lambda command: (False, ""))
    monkeypatch.setattr(start, "browser_tab", lambda python, url: opened.append(url))
    assert start.desktop_window(Path(sys.executable), "http://127.0.0.1:8501") is None
    assert opened == ["http://127.0.0.1:8501"]
    assert "opening a browser tab" in capsys.readouterr().out


def test_jupyterlab_gets_our_packages_and_settings_before_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)
    called: dict[str, Any] = {}
    monkeypatch.setattr(subprocess, "call", lambda command, **how: called.update(how) or 0)
    assert start.notebook(Path(sys.executable), browser=False) == 0
    assert called["env"]["PYTHONPATH"] == os.pathsep.join([str(ROOT), "mine"])
    settings = Path(called["env"]["JUPYTER_CONFIG_PATH"])
    defaults = json.loads((settings / "labconfig/default_setting_overrides.json").read_text())
    assert defaults["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}


def listening(port: int) -> bool:
    time.sleep(0.1)
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_pretrained_models_are_fetched_unless_small_ones_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the command returns does not matter: the app starts without them."""
    monkeypatch.setattr(start, "ROOT", tmp_path)
    package = tmp_path / "models"
    package.mkdir()
    (package / "fetch.py").write_text("import sys; print(*sys.argv[1:]); sys.exit(2)")
    start.fetch_models(Path(sys.executable))
    assert capfd.readouterr().out == ""  # MODELS=small, as in all tests
    monkeypatch.delenv("MODELS")
    start.fetch_models(Path(sys.executable))
    assert capfd.readouterr().out == "smollm2 dinov2\n"
