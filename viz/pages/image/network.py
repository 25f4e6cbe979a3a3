"""The network of the Image page: a trained one, or a ViT built from the page's sizes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.catalogue import CHECKPOINTS, read_config
from viz.pages.picture import TRAINED
from viz.pages.shared import BUILT

if TYPE_CHECKING:
    from models.run import Model
    from models.vit import ViTConfig

OWN = "own"  # stands for a checkpoint of the user's, which the Models page opens
FIRST = "objects" if "objects" in TRAINED else next(iter(TRAINED))
TITLES = {
    FIRST: TRAINED[FIRST].title,
    **{name: entry.title for name, entry in TRAINED.items()},
    OWN: "Your own ViT …",
    BUILT: "Build one (untrained)",
}


@dataclass(frozen=True)
class ViTChoice:
    """A catalogue name, or BUILT with the network's sizes; images are square."""

    model: str = BUILT
    size: int = 224
    patch: int = 16
    heads: int = 6
    dim: int = 192
    depth: int = 6
    positions: str = "learned"
    registers: int = 0
    seed: int = 0
    order: str = "p1 p2 c"

    @property
    def sizes(self) -> dict[str, Any]:
        """The fields of the `ViTConfig` of a network built here."""
        names = ("patch", "dim", "depth", "heads", "positions", "registers", "seed", "order")
        fields = {name: getattr(self, name) for name in names}
        return {"image": self.size, "mlp": 4 * self.dim, **fields}

    def config(self) -> "ViTConfig":
        """The config of a network built here.

        Raises:
            ValueError: if the sizes are inconsistent.
        """
        from models.vit import ViTConfig

        return ViTConfig(**self.sizes)


def trained(model: str) -> ViTChoice:
    """A trained network with its sizes."""
    config = read_config(CHECKPOINTS / TRAINED[model].folder).get("config", {})
    names = ("patch", "heads", "dim", "depth", "positions", "registers", "seed", "order")
    return ViTChoice(model, size=config["image"], **{name: config[name] for name in names})


@st.cache_resource(max_entries=4, show_spinner=False)
def opened(choice: ViTChoice, device: str) -> "Model":
    """The network, loaded or built once and shared: it must not be modified."""
    from models.run import load

    return load(choice.config() if choice.model == BUILT else choice.model, device=device)
