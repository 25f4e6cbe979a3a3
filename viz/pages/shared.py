"""Shared by the pages: a bounded model cache, forward passes, messages.

Modules that need torch are imported inside functions, so that a page's first output does not wait.
"""

import contextlib
import gc
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.api import pool
from viz.pages.state import session

if TYPE_CHECKING:
    from models.progress import Progress
    from models.run import Model
    from models.text import Tokenizer

ROOT = Path(__file__).parents[2]
LARGE = 5_000_000  # parameters from which on a forward pass gets all cores
BUILT = "built"  # a model built on the page, with random weights
VOCAB = 4096  # vocabulary of encoders built here, into which words are hashed
_FORWARDS = threading.BoundedSemaphore(2)  # concurrent forward passes, over all users


@dataclass(frozen=True)
class Choice:
    """The model of a page: a catalogue name, or BUILT with an encoder's sizes."""

    model: str
    heads: int = 4
    dim: int = 64
    depth: int = 4
    positions: str = "sinusoidal"
    norm: str = "post"
    seed: int = 0

    @property
    def sizes(self) -> dict[str, Any]:
        """The fields of the `EncoderConfig` of a model built here."""
        shown = ("dim", "depth", "heads", "positions", "norm", "seed")
        sizes = {name: getattr(self, name) for name in shown}
        return {"vocab": VOCAB, "mlp": 4 * self.dim, **sizes}


def error_line(message: object) -> None:
    """A one-line error message; the user's markdown and HTML are escaped."""
    line = " ".join(str(message).split())
    with st.container(key=f"problem_{hashlib.sha1(line.encode()).hexdigest()[:8]}"):
        st.error(plain(line), icon=":material/error:")


def notice(message: object) -> None:
    """A one-line note, for example on truncated input."""
    st.info(plain(" ".join(str(message).split())), icon=":material/info:")


def plain(text: str) -> str:
    """Text escaped for Streamlit's markdown."""
    escaped = "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$&@/=" else c for c in text)
    return escaped.replace(":", "&#58;")  # an escaped colon could still begin a directive


@st.cache_resource(max_entries=12, show_spinner=False)
def opened(choice: Choice, device: str) -> "Model":
    """The model, loaded or built once and shared: it must not be modified."""
    from models.encoder import EncoderConfig
    from models.run import load

    _imports_stay()
    if choice.model != BUILT:
        return load(choice.model, device=device)
    return load(EncoderConfig(**choice.sizes), device=device)


@st.cache_resource(show_spinner=False)
def _imports_stay() -> None:
    """Freezes imported objects, so that later garbage collections are faster."""
    gc.collect()
    gc.freeze()


def tokenizer(choice: Choice, device: str) -> "Tokenizer":
    """The model's tokenizer."""
    found = opened(choice, device).tokenizer
    if found is None:
        raise ValueError("this model takes token ids only")
    return found


@contextlib.contextmanager
def forward_pass(
    model: "Model", *, long: bool = False, progress: "Progress | None" = None
) -> Iterator[None]:
    """Limits concurrent forward passes to two, over all users.

    A large model or a long pass gets all cores. Everything else a page does in PyTorch is small and
    gets one core: more threads would only add overhead.

    Args:
        model: of the pass.
        long: whether the pass is long.
        progress: called while it waits for others, with 0 of 0 layers.
    """
    import torch

    large = sum(weights.numel() for weights in model.network.parameters()) > LARGE
    pool.wait(lambda seconds: _FORWARDS.acquire(timeout=seconds), waiting(progress))
    try:
        torch.set_num_threads(cores() if large or long else 1)
        yield
    finally:
        torch.set_num_threads(1)
        _FORWARDS.release()


def waiting(progress: "Progress | None" = None) -> Callable[[], None]:
    """What a page does while it waits for another run: reports it, and ends if the user wants."""

    def meanwhile() -> None:
        if progress is not None:
            progress(0, 0)
        st.session_state.get("waiting")  # Streamlit ends a script here that is to run again

    return meanwhile


@st.cache_resource(show_spinner=False)
def cores() -> int:
    """PyTorch's default number of threads; must be called before it is changed."""
    import torch

    return torch.get_num_threads()


def device() -> str:
    """The selected device if this machine has it, else the CPU."""
    chosen = session.app("device")
    if chosen == "cpu":
        return chosen
    from models.run import devices

    return chosen if chosen in devices() else "cpu"


def cold() -> bool:
    """Whether PyTorch is not imported yet, which takes seconds."""
    return "torch" not in sys.modules
