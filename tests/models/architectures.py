"""Tiny models of transformers, one for each mechanism of attention, and inputs that expose errors.

Their classes and sizes are in tiny.toml; `benchmarks.coverage.tiny` builds any model type by rule.
Weights are drawn wide enough that every head is its own, and some tokens are padding.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

BATCH, TOKENS, TARGET, VOCAB = 2, 11, 7, 53
SPREAD = 0.3  # of the weights: with less, heads look alike
IMAGE_TOKEN = 50
GRIDS = ((1, 4, 6), (1, 8, 4))  # of images in a text: frames, rows and columns
CLASS_END = re.compile(r"(LMHead|For\w+|MT)?(Model)?$")
with open(Path(__file__).with_name("tiny.toml"), "rb") as _file:
    TABLES: dict[str, dict[str, Any]] = tomllib.load(_file)


def sizes_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table of sizes, after those that it begins with."""
    first = table.get("like", [])
    found: dict[str, Any] = {}
    for name in [first] if isinstance(first, str) else first:
        found |= SIZES[name] if name in SIZES else sizes_of(TABLES["sizes"][name])
    for name, value in table.items():
        if name != "like":
            found[name] = sizes_of(value) if isinstance(value, dict) else value
    return {name: None if value == "none" else value for name, value in found.items()}


SIZES: dict[str, dict[str, Any]] = {}
SIZES |= {name: sizes_of(table) for name, table in TABLES["sizes"].items()}
TEXT, GROUPED, BARTISH, VISION = (SIZES[name] for name in ("text", "grouped", "bart", "vision"))


def build(model: str, config: str, sizes: Mapping[str, Any], seed: int = 5) -> Any:
    """A model of the library with weights drawn wide, in eval mode."""
    made = getattr(transformers, config)(**sizes)
    return drawn(getattr(transformers, model), made, seed)


def drawn(kind: Callable[[Any], nn.Module], config: Any, seed: int = 5) -> Any:
    """A network with weights drawn wide, in eval mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = kind(config)
        redraw(network)
    return network.eval()


def redraw(model: nn.Module) -> None:
    """Draws every matrix and bias anew; the weights of norms stay near 1."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim < 2 and "norm" in name.lower() and name.endswith("weight"):
                parameter.uniform_(0.7, 1.3)
            else:
                parameter.normal_(0.0, SPREAD)


# --- inputs ---------------------------------------------------------------------------------------


def _dice(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def ids(items: int, tokens: int, seed: int = 3) -> Tensor:
    return torch.randint(3, IMAGE_TOKEN - 2, (items, tokens), generator=_dice(seed))


def normal(*shape: int, seed: int = 7) -> Tensor:
    return torch.randn(*shape, generator=_dice(seed))


def padded(items: int, tokens: int, padding: int, *, left: bool) -> dict[str, Tensor]:
    """Ids and their mask; the last item has padding in front or behind."""
    shown = torch.ones(items, tokens, dtype=torch.long)
    shown[-1, slice(0, padding) if left else slice(tokens - padding, None)] = 0
    return {"input_ids": ids(items, tokens) * shown, "attention_mask": shown}


def text() -> dict[str, Tensor]:
    """Ids of two texts, the second shorter and filled up behind."""
    rows = torch.randint(3, VOCAB, (BATCH, TOKENS), generator=_dice(TOKENS))
    shown = padded(BATCH, TOKENS, 4, left=False)["attention_mask"]
    return {"input_ids": rows * shown, "attention_mask": shown}


def target() -> dict[str, Tensor]:
    return {"decoder_input_ids": torch.randint(3, VOCAB, (BATCH, TARGET), generator=_dice(3))}


def pixels(rows: int = 20, cols: int = 20) -> dict[str, Tensor]:
    """Two images."""
    return {"pixel_values": normal(BATCH, 3, rows, cols, seed=rows)}


def images_in_text() -> dict[str, Tensor]:
    """One text with two images of different sizes."""
    grid = torch.tensor(GRIDS)
    row = torch.tensor([[3, 49, *[IMAGE_TOKEN] * 6, 48, 4, 49, *[IMAGE_TOKEN] * 8, 48, 5]])
    patches = normal(int(grid.prod(-1).sum()), 3 * 2 * 4 * 4)
    kinds = (row == IMAGE_TOKEN).int()
    given = {"input_ids": row, "mm_token_type_ids": kinds}
    return {**given, "pixel_values": patches, "image_grid_thw": grid}


def two_pictures() -> dict[str, Tensor]:
    """One text with two images of the same size."""
    row = [3, *[IMAGE_TOKEN] * 4, 4, *[IMAGE_TOKEN] * 4, 5]
    return {"input_ids": torch.tensor([row]), "pixel_values": normal(1, 2, 3, 16, 16)}


INPUTS: dict[str, Callable[[], dict[str, Tensor]]] = {
    "text": text,
    "both": lambda: text() | target(),
    "pixels": pixels,
    "larger": lambda: pixels(24, 24),
    "photo": lambda: pixels(128, 64),
    "pair": lambda: text() | pixels(),
    "sound": lambda: {"input_features": normal(BATCH, 16, 26)} | target(),  # as mel frames
    "wave": lambda: {"input_values": normal(BATCH, 400)},
    "images_in_text": images_in_text,
    "two_pictures": two_pictures,
    "prompted": lambda: {  # a picture and one point in it
        "pixel_values": normal(1, 3, 32, 32),
        "input_points": normal(1, 1, 1, 2).abs() * 16,
    },
}


@dataclass(frozen=True)
class Architecture:
    """One architecture, small.

    Attributes:
        name: as people call it.
        model: the library's class.
        config: the library's class of its config.
        sizes: what the config is given.
        inputs: gives one set of inputs.
    """

    name: str
    model: str
    config: str
    sizes: Mapping[str, Any]
    inputs: Callable[[], dict[str, Tensor]]

    @staticmethod
    def of(name: str, table: Mapping[str, Any]) -> "Architecture":
        """That of a table of tiny.toml."""
        sizes = sizes_of(table)
        model, inputs = sizes.pop("class"), INPUTS[sizes.pop("inputs")]
        config = sizes.pop("config", CLASS_END.sub("Config", model, count=1))
        return Architecture(name, model, config, sizes, inputs)

    def build(self, seed: int = 5) -> Any:
        """The model with weights drawn anew, in eval mode."""
        return build(self.model, self.config, self.sizes, seed)


ARCHITECTURES = tuple(Architecture.of(*each) for each in TABLES["model"].items())
OTHERS = tuple(Architecture.of(*each) for each in TABLES["other"].items())
BY_NAME = {each.name: each for each in (*ARCHITECTURES, *OTHERS)}
