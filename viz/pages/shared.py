"""What pages share: models in a bounded cache, forward passes, lines that tell of a problem.

Nothing that needs torch is imported before it is called for: a page's first output does not wait.
"""

import contextlib
import gc
import hashlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages.state import session

if TYPE_CHECKING:
    from models.run import Model
    from models.text import Tokenizer

ROOT = Path(__file__).parents[2]
LARGE = 5_000_000  # weights of a model whose forward pass takes longer than a picture
BUILT = "built"  # a model made on the page, with random weights
VOCAB = 4096  # of encoders built here: words are hashed into so many ids
_FORWARDS = threading.BoundedSemaphore(2)  # forward passes at one time, over all users


@dataclass(frozen=True)
class Choice:
    """Which model a page shows: a name of the catalogue, or BUILT with an encoder's sizes."""

    model: str
    heads: int = 4
    dim: int = 64
    depth: int = 4
    positions: str = "sinusoidal"
    norm: str = "post"
    seed: int = 0

    @property
    def sizes(self) -> dict[str, Any]:
        """The fields of the `EncoderConfig` of a model that is built here."""
        shown = ("dim", "depth", "heads", "positions", "norm", "seed")
        sizes = {name: getattr(self, name) for name in shown}
        return {"vocab": VOCAB, "mlp": 4 * self.dim, **sizes}


def error_line(message: object) -> None:
    """One line that says what is wrong and what to do; never markdown or HTML of the user's."""
    line = " ".join(str(message).split())
    with st.container(key=f"problem_{hashlib.sha1(line.encode()).hexdigest()[:8]}"):
        st.error(plain(line), icon=":material/error:")


def notice(message: object) -> None:
    """One line about something that was changed or left out on the way."""
    st.info(plain(" ".join(str(message).split())), icon=":material/info:")


def plain(text: str) -> str:
    """Text that Streamlit's markdown shows letter by letter."""
    escaped = "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$&@/=" else c for c in text)
    return escaped.replace(":", "&#58;")  # an escaped colon could still begin a directive


@st.cache_resource(max_entries=12, show_spinner=False)
def opened(choice: Choice, device: str) -> "Model":
    """The model, loaded or built once and shared: nothing may change it."""
    from models.encoder import EncoderConfig
    from models.run import load

    _imports_stay()
    if choice.model != BUILT:
        return load(choice.model, device=device)
    return load(EncoderConfig(**choice.sizes), device=device)


@st.cache_resource(show_spinner=False)
def _imports_stay() -> None:
    """Leaves what was imported out of later garbage collections, which it would slow down."""
    gc.collect()
    gc.freeze()


def tokenizer(choice: Choice, device: str) -> "Tokenizer":
    """What reads text for the model."""
    found = opened(choice, device).tokenizer
    if found is None:
        raise ValueError("this model reads token ids only")
    return found


@contextlib.contextmanager
def forward_pass(model: "Model", *, long: bool = False) -> Iterator[None]:
    """For a model's forward pass: not more than two at one time, over all users.

    A large model, or a long pass, has all cores. All else that PyTorch does for a page is small
    and has one core: two threads would wait for each other while the browser needs the other one.
    """
    import torch

    large = sum(weights.numel() for weights in model.network.parameters()) > LARGE
    with _FORWARDS:
        torch.set_num_threads(cores() if large or long else 1)
        try:
            yield
        finally:
            torch.set_num_threads(1)


@st.cache_resource(show_spinner=False)
def cores() -> int:
    """How many threads PyTorch would choose itself; asked before anything changes it."""
    import torch

    return torch.get_num_threads()


def device() -> str:
    """What the models run on: the chosen device where this machine has it, else the CPU."""
    chosen = session.app("device")
    if chosen == "cpu":
        return chosen
    from models.run import devices

    return chosen if chosen in devices() else "cpu"


def cold() -> bool:
    """Whether PyTorch is still to be imported, which takes seconds."""
    return "torch" not in sys.modules
