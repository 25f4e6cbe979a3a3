"""`python -m tests.reference [FOLDER]` writes the API reference from the docstrings, by pdoc.

It is plain HTML, read without a network.
"""

import sys
from importlib import import_module
from pathlib import Path

import headscope

FOLDER = Path(__file__).parents[1] / "build" / "reference"


def main(folder: Path = FOLDER) -> None:
    """Writes it, of every public call."""
    pdoc = import_module("pdoc")
    names = [name for name in dir(headscope) if name != "main"]
    for name in names:
        setattr(headscope, name, getattr(headscope, name))
    setattr(headscope, "__all__", names)  # noqa: B010
    pdoc.render.configure(docformat="google", show_source=False)
    pdoc.pdoc("headscope", output_directory=folder)
    sys.stdout.write(f"{folder / 'headscope.html'}\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
