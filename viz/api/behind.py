"""What the next model needs, prepared in the background while people look at the first picture.

A model of transformers takes some 2 seconds of imports, and a fetched one a digest of its weights
before it opens.
"""

from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Timer

from models.catalogue import FETCHED, folder, is_here, verify
from models.files.errors import CheckpointError

STILL = 3.0  # seconds after the first page: the first change comes before this
LIBRARY = "models.pretrained.loader"


@cache
def prepare() -> Timer:
    """Starts the preparation shortly, and once: later calls return the same timer."""
    timer = Timer(STILL, _prepare)
    timer.daemon = True
    timer.start()
    return timer


def _prepare() -> None:
    import_module(LIBRARY)
    for entry in filter(is_here, FETCHED):
        with suppress(CheckpointError, OSError):  # said when it is opened
            verify(entry, folder(entry))
