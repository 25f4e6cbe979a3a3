"""Greedy generation for lessons, step by step."""

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
    """A generated text, step by step.

    Attributes:
        prompt: the input tokens.
        names: of the output ids.
        steps: one per generated token.
        end: id of the end symbol; None if there is none.
        difference: largest difference of a probability with and without key-value cache.
    """

    prompt: tuple[str, ...]
    names: tuple[str, ...]
    steps: "tuple[Step, ...]"
    end: int | None
    difference: float

    def best(self, step: int, count: int = 3) -> list[tuple[str, float]]:
        """The most likely tokens of a step, and their probabilities."""
        found = self.steps[step].probabilities[0].topk(min(count, len(self.names)))
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        return [(self.names[number], share) for number, share in pairs]

    def word(self, step: int) -> str:
        """The token chosen at a step."""
        return self.names[int(self.steps[step].ids[0])]


def available(name: str) -> bool:
    """Whether the model can be loaded here."""
    from models.catalogue import catalogue

    return name == "untrained" or name in {entry.name for entry in catalogue()}


def missing(name: str) -> str:
    """The message for a missing model."""
    return (
        f"The trained model “{name}” is not installed: python -m train {name} trains it in minutes."
        " Until then an untrained one is used."
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def generated(name: str, text: str) -> Generated:
    """Generates the continuation of a text, or the target of a source, up to `LIMIT` tokens.

    Raises:
        ValueError: for an empty text, or an unknown word.
    """
    import torch

    from models.decode import greedy
    from models.decoder import Decoder
    from models.seq2seq import Seq2Seq

    model = _untrained() if name == "untrained" else shared.opened(shared.Choice(name), "cpu")
    prompt, ids, names = _encoded(name, model, text)
    network = model.network
    if not isinstance(network, Decoder | Seq2Seq):
        raise ValueError(f"expected a model that generates text, received {name}")
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
    """Labels and ids of the prompt, and the names of the output ids."""
    if not text.strip():
        raise ValueError("expected some words to begin with, received none")
    if name == "untrained":
        words = text.lower().split()
        unknown = [word for word in words if word not in WORDS]
        if unknown:
            raise ValueError(f"expected words among {', '.join(WORDS)}, received {unknown[0]!r}")
        return tuple(words), [WORDS.index(word) for word in words], WORDS
    if model.tokenizer is None:
        raise ValueError(f"{name} takes token ids only")
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
