"""Builds the wheel, in which everything lies under `headscope/`.

Research code often has packages called `models` or `train` of its own. In the wheel ours are
`headscope.models`, `headscope.train` and so on: their import names are rewritten, in the code that
they show to the user too. Nothing else differs from this folder.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PACKAGE = "headscope"
ROOMS = {name: ROOT / name for name in ("models", "analysis", "viz", "train")} | {
    "headscope_views": ROOT / "viz/components/headscope_views"
}
FILES = {  # in the wheel, and here
    "__init__.py": "headscope.py",
    "app.py": "app.py",
    "start.py": "start.py",
    ".streamlit/config.toml": ".streamlit/config.toml",
    "LICENSE": "LICENSE",
    "NOTICE": "NOTICE",
}
LEFT_OUT = shutil.ignore_patterns("__pycache__", "components", "*.pyc", "*.tmp")
NAMES = "|".join([*ROOMS, "start"])
IMPORT = re.compile(rf"\b(from )({NAMES})(?=(?:\.\w+)* import\b)")
QUOTED = re.compile(rf"""(["'])({"|".join(ROOMS)})(?=\.[a-z_]+["'.{{])""")
MAIN = f"import sys\n\nfrom {PACKAGE} import main\n\nsys.exit(main())\n"


class Build(build_py):
    """Writes the packages of this folder as one."""

    def run(self) -> None:
        if self.editable_mode:
            raise SystemExit(f"{PACKAGE}: for work on it, put this folder on PYTHONPATH instead")
        folder = Path(self.build_lib) / PACKAGE
        shutil.rmtree(folder, ignore_errors=True)
        for name, source in ROOMS.items():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        for name, source in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(ROOT / source, folder / name)
        for path in folder.rglob("*.py"):
            path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
        (folder / "py.typed").touch()
        (folder / "__main__.py").write_text(MAIN, encoding="utf-8")
        manifest = (ROOT / "viz/components/pyproject.toml").read_text(encoding="utf-8")
        (folder / "pyproject.toml").write_text(components(manifest), encoding="utf-8")

    def get_source_files(self) -> list[str]:
        return []  # not those of a folder `headscope`, which there is only in the wheel

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        folder = Path(self.build_lib) / PACKAGE
        return [str(path) for path in folder.rglob("*") if path.is_file()]


def rewritten(code: str) -> str:
    """Python code with the import names that it has in the wheel."""
    return QUOTED.sub(rf"\1{PACKAGE}.\2", IMPORT.sub(rf"\1{PACKAGE}.\2", code))


def components(manifest: str) -> str:
    """What Streamlit reads to find the browser views, for a package in the package."""
    named = manifest.replace('name = "headscope-views"', f'name = "{PACKAGE}"')
    return named.replace('asset_dir = "assets"', 'asset_dir = "headscope_views/assets"')


setup(packages=[PACKAGE], cmdclass={"build_py": Build})
