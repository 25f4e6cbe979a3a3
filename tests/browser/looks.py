"""In which looks a page is tried: how wide the window, and light or dark.

Two of the four together have both widths and both modes; `LOOKS=all make test` tries all four.
"""

import os

import pytest

EVERY = [(width, mode) for width in (1280, 390) for mode in ("light", "dark")]
TRIED = EVERY if os.environ.get("LOOKS") == "all" else [(1280, "light"), (390, "dark")]

looks = pytest.mark.parametrize(("width", "mode"), TRIED)
