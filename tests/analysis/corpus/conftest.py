"""Small models and corpora for runs."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.model import Model
from models.run import load

WORDS = ("the", "dog", "saw", "a", "cat", ",", "it", "ran", ".", "home", "red", "and")


def sentences(count: int, seed: int = 1) -> list[str]:
    """Sentences of 2 to 13 words."""
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randint(2, 13))) for _ in range(count)]


@pytest.fixture(scope="session")
def decoder() -> Model:
    return load(DecoderConfig(vocab=211, dim=15, depth=2, heads=3, mlp=17, max_tokens=31, seed=3))


@pytest.fixture(scope="session")
def encoder() -> Model:
    return load(EncoderConfig(vocab=211, dim=10, depth=1, heads=2, mlp=17, max_tokens=31, seed=4))


@pytest.fixture
def texts(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of sentences."""

    def write(count: int, seed: int = 1) -> Path:
        path = tmp_path / f"texts-{count}-{seed}.txt"
        path.write_text("\n".join(sentences(count, seed)) + "\n", encoding="utf-8")
        return path

    return write
