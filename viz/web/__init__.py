"""The browser's code: the folders that hold it, and the path at which the app serves them."""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VIZ = Path(__file__).parents[1]
WEB = VIZ / "web"  # what the views share; Streamlit's component holds the entry alone
ROOTS = tuple(folder for name in ("web", "views", "course") if (folder := VIZ / name).is_dir())
SERVED = (".js", ".css", ".png")  # what a browser asks for; beside it lie Python and types


def files() -> Iterator[Path]:
    """Every file of `ROOTS` that is served."""
    for root in ROOTS:
        yield from sorted(path for path in root.rglob("*") if path.suffix in SERVED)


@cache
def path() -> str:
    """The URL path below which `files` lie as they do below `viz`; it contains a hash of them.

    A browser can therefore cache them for good and never mixes two versions. At the path that
    Streamlit gives a component, each page would fetch every module again.
    """
    digest = hashlib.sha256()
    for file in files():
        digest.update(file.relative_to(VIZ).as_posix().encode())
        digest.update(file.read_bytes())
    return f"/assets/{digest.hexdigest()[:16]}"
