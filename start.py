"""Start Headscope: `python start.py` (or `make app`); `--desktop` opens a window of its own.

The first time it makes .venv and installs what the app needs; after that it only starts it.
Nothing but the standard library is used here, and nothing an old Python could not read.
"""

import argparse
import atexit
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LAB_SETTINGS = ROOT / "notebooks/.jupyter"
MODELS = ("smollm2", "dinov2")  # MiniLM is among the requirements
OLDEST = (3, 11)
PORT = 8501
PORTS_TRIED = 100
START_SECONDS = 120
CONSTRAINTS = "constraints.txt"
APP_BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "%ProgramFiles%/Google/Chrome/Application/chrome.exe",
    "%ProgramFiles(x86)%/Microsoft/Edge/Application/msedge.exe",
)
ADVICE = (
    "Make sure that there is room on the disk (torch alone can take several GB), and that the\n"
    "package index can be reached (pip config list); then run this again: what was downloaded is\n"
    "kept. If there is no package for this Python, remove .venv and run this with another one."
)


def main(arguments: "list[str] | None" = None) -> int:
    """Install what is missing, then serve until Ctrl-C. Returns the exit status."""
    options = parser(os.path.basename(sys.argv[0])).parse_args(arguments)

    def task() -> int:
        if options.notebook:
            return notebook(prepare("requirements-notebook.txt"), not options.no_browser)
        python = prepare("requirements.txt")
        fetch_models(python)
        return serve_at(python, options)

    return run(task)


def installed(arguments: "list[str]") -> int:
    """Serve with the Python that runs this, which has what the app needs: the command `headscope`.

    Returns the exit status.
    """
    described = parser("headscope", notebook=False)
    described.epilog = (
        "headscope figure writes a figure, headscope corpus reads a corpus: see their --help"
    )
    options = described.parse_args(arguments)
    return run(lambda: serve_at(Path(sys.executable), options))


def run(task: "Callable[[], int]") -> int:
    """Do it until it ends or Ctrl-C; returns the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return task()
    except KeyboardInterrupt:
        print("\nStopped.")
        return 0


def serve_at(python: Path, options: argparse.Namespace) -> int:
    """Serve as the options say; returns the exit status."""
    port = free_port(options.port)
    if options.desktop:
        return serve(python, port, desktop_window)
    return serve(python, port, None if options.no_browser else browser_tab)


def parser(name: str, notebook: bool = True) -> argparse.ArgumentParser:
    """The options of the command with this name."""
    parser = argparse.ArgumentParser(name, description="Start Headscope.")
    parser.add_argument(
        "--port",
        type=int,
        default=os.environ.get("PORT") or PORT,
        help=f"the first port to try (default: PORT from the environment, else {PORT})",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    parser.add_argument(
        "--desktop",
        action="store_true",
        help="open a window of its own (pywebview where .venv has it, else a browser's app window);"
        " closing it ends the server",
    )
    if notebook:
        text = "open JupyterLab instead of the app"
        parser.add_argument("--notebook", action="store_true", help=text)
    return parser


def notebook(python: Path, browser: bool) -> int:
    """Run JupyterLab in notebooks/ until Ctrl-C.

    Its notebooks find the packages of this folder, and are saved with their views (LAB_SETTINGS;
    the user's own settings count more).
    """
    command = [str(python), "-m", "jupyterlab", *([] if browser else ["--no-browser"])]
    more = {}
    for name, folder in (("PYTHONPATH", ROOT), ("JUPYTER_CONFIG_PATH", LAB_SETTINGS)):
        more[name] = os.pathsep.join(filter(None, [str(folder), os.environ.get(name, "")]))
    return subprocess.call(command, cwd=str(ROOT / "notebooks"), env={**os.environ, **more})


def refuse_old_python() -> None:
    """Say what to do when this Python is too old to run anything here."""
    if sys.version_info >= OLDEST:
        return
    newer = [f"python3.{minor}" for minor in range(19, OLDEST[1] - 1, -1)]
    runs = [name for name in newer if shutil.which(name) and output([name, "-V"])[0]]
    this = ".".join(str(part) for part in sys.version_info[:3])
    todo = f"Run {runs[0]}" if runs else f"Install it, then run python3.{OLDEST[1]}"
    sys.exit(f"Headscope needs Python 3.{OLDEST[1]} or newer; this is {this}. {todo} start.py")


def prepare(requirements: str) -> Path:
    """Return the Python of .venv, with this requirements file installed.

    Quick when nothing changed: a stamp in .venv says what was installed last. It is there only
    after pip has succeeded, so an interrupted installation is taken up again. Every requirements
    file includes the app's.
    """
    python = venv_python()
    stamp = stamp_of(requirements)
    if python.exists() and stamp.exists() and stamp.read_text() == fingerprint(requirements):
        return python
    if not works(python):
        create_venv()
    for old in VENV.glob("*.stamp"):
        old.unlink()
    install(python, requirements)
    for name in {"requirements.txt", requirements}:
        stamp_of(name).write_text(fingerprint(name))
    return python


def fetch_models(python: Path) -> None:
    """Fetch the pretrained models of the catalogue that are not here; MODELS=small leaves them out.

    Without them the app starts as well: the lines say what is left out, and why.
    """
    if os.environ.get("MODELS") != "small" and (ROOT / "models").is_dir():
        subprocess.call([str(python), "-m", "models.fetch", *MODELS], cwd=str(ROOT))


def stamp_of(requirements: str) -> Path:
    return VENV / f"{requirements}.stamp"


def venv_python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint(requirements: str) -> str:
    """A hash of all that decides what .venv must hold, and where: editable installs know paths."""
    digest = hashlib.sha256(str(ROOT).encode())
    digest.update(os.path.realpath(str(venv_python())).encode())
    files = ["requirements.txt", requirements, CONSTRAINTS, "viz/components/pyproject.toml"]
    files.append(".venv/pyvenv.cfg")
    for name in files:
        path = ROOT / name
        digest.update(path.read_bytes() if path.exists() else b"missing")
    return digest.hexdigest()


def works(python: Path) -> bool:
    """Whether .venv has a Python that runs, has pip, and is the one its packages are for."""
    settings = VENV / "pyvenv.cfg"
    text = settings.read_text() if python.exists() and settings.exists() else ""
    match = re.search(r"^version\w* *= *(\d+)\.(\d+)", text, re.MULTILINE)
    if not match or (int(match[1]), int(match[2])) < OLDEST:
        return False
    code = f"import sys, pip; sys.exit(sys.version_info[:2] != ({match[1]}, {match[2]}))"
    return output([str(python), "-c", code])[0]


def create_venv() -> None:
    print(f"Making .venv with Python {sys.version.split()[0]}", flush=True)
    status, text = output([sys.executable, "-m", "venv", "--clear", str(VENV)])
    if status:
        return
    if "ensurepip" in text or "No module named venv" in text:
        sys.exit(
            "This Python cannot make virtual environments. "
            "On Debian or Ubuntu: apt install python3-venv. Then run this again."
        )
    sys.exit(f"Could not make .venv:\n{tail(text)}")


def install(python: Path, requirements: str) -> None:
    """Run pip, showing what it downloads; its settings (index, proxy, cache) are the user's own."""
    print(f"Installing {requirements} into .venv (some minutes the first time)", flush=True)
    command = [str(python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--no-compile", "-r", requirements, "-c", CONSTRAINTS]
    lines = []
    with subprocess.Popen(command, **captured()) as pip:
        for line in pip.stdout or ():
            lines.append(line)
            progress = noteworthy(line)
            if progress:
                print(f"  {progress}", flush=True)
    if pip.returncode != 0:
        sys.exit(f"pip could not install {requirements}:\n{tail(''.join(lines))}\n{ADVICE}")
    compile_all(python)


def compile_all(python: Path) -> None:
    """Compile what was installed, on all cores: pip would use one, and takes longest over this.

    Some packages carry files for other Pythons, and their own tests: both stay as they are.
    """
    print("  compiling", flush=True)
    folders = (*VENV.glob("lib/python*/site-packages"), *VENV.glob("Lib/site-packages"))
    options = ["-qq", "-j", "0", "-x", r"[/\\]tests?[/\\]"]
    output([str(python), "-m", "compileall", *options, *map(str, folders)])


def noteworthy(line: str) -> str:
    """What to show of a line from pip: the large downloads, and the last, silent step."""
    download = re.match(r"\s*Downloading (\S+?-[^-\s]+)-\S+ \((\S+ [MG]B)\)", line)
    if download:
        return f"{download[1]}  {download[2]}"
    return "unpacking" if line.startswith("Installing collected packages") else ""


def free_port(first: int) -> int:
    """The first port from `first` on that nothing listens on."""
    for port in range(first, min(first + PORTS_TRIED, 65536)):
        with socket.socket() as probe:
            if os.name != "nt":  # there it would take a port from its owner
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port != first:
            print(f"Port {first} is taken; using {port}.", flush=True)
        return port
    sys.exit(f"No free port from {first} on. Give another with --port.")


def serve(
    python: Path, port: int, show: "Callable[[Path, str], subprocess.Popen[bytes] | None] | None"
) -> int:
    """Run the app until it ends or Ctrl-C.

    Args:
        python: of .venv.
        port: to listen on.
        show: opens the app once it answers; the server ends with the window this returns.
    """
    command = [str(python), "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += [f"--server.port={port}", "--logger.hideWelcomeMessage=true"]
    server = subprocess.Popen(command, cwd=str(ROOT))
    window = None
    try:
        if not answers(server, port):
            print("Headscope did not start; its message is above.")
            return server.poll() or 1
        url = f"http://127.0.0.1:{port}"
        print(f"Headscope is at {url} (Ctrl-C stops it)", flush=True)
        window = show(python, url) if show else None
        if window is not None:
            window.wait()
            return 0
        status = server.wait()
        if status != 0:
            print(f"The server ended with status {status}; its message is above.")
        return status
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for process in (window, server):
            if process is not None:
                stop(process)


def browser_tab(_: Path, url: str) -> None:
    """Open the browser; without a screen webbrowser would fill the terminal with one of text."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, screens)):
        import webbrowser

        webbrowser.open(url)


def desktop_window(python: Path, url: str) -> "subprocess.Popen[bytes] | None":
    """Open a window that shows the app alone. None if only a browser tab can be had."""
    check = "from webview.guilib import initialize; initialize()"  # it may be without WebKit or Qt
    if output([str(python), "-c", check])[0]:
        lines = f"import webview; webview.create_window('Headscope', {url!r}); webview.start()"
        return subprocess.Popen([str(python), "-c", lines], cwd=str(ROOT))
    browsers = (shutil.which(os.path.expandvars(name)) for name in APP_BROWSERS)
    browser = next(filter(None, browsers), None)
    if browser is None:
        print("No pywebview and no Chromium, Chrome or Edge: opening a browser tab.", flush=True)
        browser_tab(python, url)
        return None
    profile = tempfile.mkdtemp(prefix="headscope-")  # a profile of its own: the process stays
    atexit.register(shutil.rmtree, profile, ignore_errors=True)
    command = [browser, f"--app={url}", f"--user-data-dir={profile}", "--no-first-run"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")  # Chromium refuses to run as root with it
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def answers(server: "subprocess.Popen[bytes]", port: int) -> bool:
    """Wait until the server is healthy; False if it ended, answers with an error, or takes long."""
    from http.client import HTTPConnection, HTTPException

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.05)
    return False


def stop(server: "subprocess.Popen[bytes]") -> None:
    """End the server and wait until it is gone."""
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def output(command: "list[str]", seconds: "float | None" = None) -> "tuple[bool, str]":
    """Run a command from the project's folder; whether it succeeded in time, and what it said."""
    try:
        ran = subprocess.run(command, timeout=seconds, **captured())
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    return ran.returncode == 0, ran.stdout


def captured() -> "dict[str, Any]":
    """How a command runs in the project's folder whose output is read."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return {"cwd": str(ROOT), "encoding": "utf-8", "errors": "replace", **pipes}


def tail(text: str, lines: int = 12) -> str:
    return "\n".join("  " + line for line in text.rstrip().splitlines()[-lines:])


if __name__ == "__main__":
    refuse_old_python()
    sys.exit(main())
