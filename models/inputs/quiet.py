"""Silences messages of transformers."""

import contextlib
import logging
from collections.abc import Iterator

from transformers.utils import logging as library


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silences the library's logging and progress bars: errors are reported in one line."""
    level, bar = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity(logging.CRITICAL)
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(level)
        if bar:
            library.enable_progress_bar()
