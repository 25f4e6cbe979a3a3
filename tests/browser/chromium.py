"""Find a Chromium to drive. Standard library only: it is asked before anything is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
    r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
    r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
    r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
)
HOW_TO_GET_ONE = (
    "No browser for the browser tests. Install Chromium or Chrome, or set CHROME to one you have: "
    "on Debian `apt install chromium`, elsewhere `python -m playwright install chromium` "
    "with the Python of .venv. `BROWSER=0 make test` leaves these tests out."
)


def installed_browser() -> str | None:
    """The browser named by CHROME or BROWSER_PATH, else the first on PATH or where it installs."""
    for variable in ("CHROME", "BROWSER_PATH"):
        if named := os.environ.get(variable):
            return shutil.which(named) or named
    candidates = [shutil.which(name) for name in NAMES]
    candidates += [os.path.expandvars(place) for place in PLACES]
    return next(
        (path for path in candidates if path and Path(path).is_file() and _runs(path)), None
    )


def playwright_browser() -> str | None:
    """Playwright's own Chromium, where somebody has downloaded it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def launch_arguments() -> list[str]:
    """Quiet, offline and without a GPU; root cannot use the sandbox."""
    arguments = [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    return arguments


def _runs(path: str) -> bool:
    """Ubuntu ships a `chromium-browser` that only says how to install it."""
    if sys.platform == "win32":
        return True  # chrome.exe --version opens a window there
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    found = installed_browser() or playwright_browser()
    print(found or HOW_TO_GET_ONE)
    sys.exit(0 if found else 1)
