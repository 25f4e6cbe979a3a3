"""Greedy generation for lessons: which models generate, and what, step by step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.widgets import cards

if TYPE_CHECKING:
    from models.decode import Step
    from models.run import Model

WRITERS = {
    "grammar-next": "a small English",
    "dates": "dates",
    "untrained": "nothing yet (untrained)",
}
WORDS = ("the", "a", "dog", "cat", "bird", "saw", "heard", "and", "old", "small", ".")
END = "."
LIMIT = 14


@dataclass(frozen=True, eq=False)
class Generated:
    """What a model wrote, step by step.

    Attributes:
        prompt: the tokens it read.
        names: of the ids it writes.
        steps: one for each token written.
        end: the id that ends a text; None for no end.
        difference: the largest difference of a probability from that without a key-value cache.
    """

    prompt: tuple[str, ...]
    names: tuple[str, ...]
    steps: "tuple[Step, ...]"
    end: int | None
    difference: float

    def best(self, step: int, count: int = 3) -> list[tuple[str, float]]:
        """The likeliest tokens of a step, and their probabilities."""
        found = self.steps[step].probabilities[0].topk(min(count, len(self.names)))
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        return [(self.names[number], share) for number, share in pairs]

    def word(self, step: int) -> str:
        """What the step chose."""
        return self.names[int(self.steps[step].ids[0])]


def available(name: str) -> bool:
    """Whether the model can be loaded here."""
    from models.catalogue import catalogue

    return name == "untrained" or name in {entry.name for entry in catalogue()}


def missing(name: str) -> str:
    """What to do for a model that is not there."""
    return (
        f"The trained model “{name}” is not among the checkpoints here: python -m train {name}"
        " makes it in minutes. Until then an untrained one takes its place."
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def generated(name: str, text: str) -> Generated:
    """Everything the model writes after a text, or for a source, up to its end or `LIMIT`.

    Raises:
        ValueError: for an empty text, or a word that the model does not know.
    """
    import torch

    from models.decode import greedy
    from models.decoder import Decoder
    from models.seq2seq import Seq2Seq

    model = _untrained() if name == "untrained" else shared.opened(shared.Choice(name), "cpu")
    prompt, ids, names = _encoded(name, model, text)
    network = model.network
    if not isinstance(network, Decoder | Seq2Seq):
        raise ValueError(f"expected a model that writes, received {name}")
    alone = isinstance(network, Decoder)
    end = names.index(END) if END in names else None if alone else network.config.end
    left = network.config.max_tokens - (len(ids) if alone else 1)
    cached, uncached = (
        tuple(
            greedy(
                network,
                torch.tensor([ids]),
                end=end,
                limit=max(1, min(LIMIT, left)),
                cached=cache,
            )
        )
        for cache in (True, False)
    )
    pairs = zip(cached, uncached, strict=True)
    difference = max(float((a.probabilities - b.probabilities).abs().max()) for a, b in pairs)
    return Generated(prompt, names, cached, end, difference)


def _encoded(
    name: str, model: "Model", text: str
) -> tuple[tuple[str, ...], list[int], tuple[str, ...]]:
    """The labels and ids of the prompt, and the names of the ids that are written."""
    if not text.strip():
        raise ValueError("expected some words to begin with, received none")
    if name == "untrained":
        words = text.lower().split()
        unknown = [word for word in words if word not in WORDS]
        if unknown:
            raise ValueError(f"expected words among {', '.join(WORDS)}, received {unknown[0]!r}")
        return tuple(words), [WORDS.index(word) for word in words], WORDS
    if model.tokenizer is None:
        raise ValueError(f"{name} reads token ids only")
    tokens, card = model.tokenizer.encode(text), cards.card(name)
    names = () if card is None else card.target_tokens or card.tokens
    return tokens.labels, list(tokens.ids), names


@st.cache_resource(show_spinner=False)
def _untrained() -> "Model":
    from models.decoder import DecoderConfig
    from models.run import load

    config = DecoderConfig(
        vocab=len(WORDS), dim=32, depth=2, heads=4, mlp=64, max_tokens=40, dropout=0.0
    )
    return load(config)
