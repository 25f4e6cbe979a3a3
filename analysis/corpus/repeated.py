"""Texts of random tokens that are said twice, over which induction shows.

Source: Olsson et al. 2022, "In-context Learning and Induction Heads", the copying of random tokens.
"""

import random
from typing import TYPE_CHECKING

from models.text import Decoding

if TYPE_CHECKING:
    from models.model import Model

WORDS = 12  # tokens that are said twice
TRIES = 200  # draws of a text whose second half has the tokens of its first


def repeated(model: "Model", count: int) -> list[str]:
    """Texts of random tokens of a model's vocabulary, each twice in the same order.

    Raises:
        ValueError: for a model without such a tokenizer.
    """
    tokenizer = model.tokenizer
    if not isinstance(tokenizer, Decoding):
        raise ValueError(f"{model.name} has no tokenizer that writes text")
    dice, vocabulary = random.Random(0), len(tokenizer.words)
    texts: list[str] = []
    for _ in range(count * TRIES):
        if len(texts) == count:
            return texts
        ids = dice.choices(range(vocabulary), k=WORDS)
        once = "".join(tokenizer.text([token]) for token in ids).strip()
        text = f"{once} {once}"
        tokens = tokenizer.encode(text)
        plain = [
            token for token, special in zip(tokens.ids, tokens.special, strict=True) if not special
        ]
        half = len(plain) // 2
        # a first token without the space before it may differ from its repetition
        if half >= WORDS // 2 and plain[1:half] == plain[half + 1 :] and once.isascii():
            texts.append(text)
    raise ValueError(f"{model.name}: its tokens are not the same when their text is repeated")
