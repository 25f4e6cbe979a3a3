"""Vocabularies of the tasks, as tokenizers."""

from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Bool, Int
from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Sequence as InTurn
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing
from torch import Tensor

PAD, BEGIN, END, UNKNOWN, MASK = range(5)
SPECIAL = ("[PAD]", "[BEGIN]", "[END]", "[UNK]", "[MASK]")
IGNORED = -100  # target of positions without a loss
SPLITS = {  # pre-tokenization: patterns, each with the treatment of its matches
    "characters": ((r"\s+", "removed"), (r".", "isolated")),
    "characters and spaces": ((r"[\s\S]", "isolated"),),
    "words": ((r"\s+", "removed"), (r"[^\w\s]", "isolated")),
}


class Vocabulary:
    """Special tokens, followed by the tokens of a task in lower case.

    Attributes:
        names: every token, by its id.
    """

    def __init__(
        self, tokens: Sequence[str], split: str, *, begin: bool = False, end: bool = False
    ) -> None:
        """The tokens of a task, one of `SPLITS`, and whether texts begin and end with a token."""
        self.names = (*SPECIAL, *tokens)
        numbers = {token: number for number, token in enumerate(self.names)}
        self._tokenizer = Tokenizer(WordLevel(numbers, unk_token=SPECIAL[UNKNOWN]))
        self._tokenizer.normalizer = Lowercase()
        self._tokenizer.pre_tokenizer = InTurn([Split(Regex(by), how) for by, how in SPLITS[split]])
        self._tokenizer.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL])
        self._tokenizer.post_processor = TemplateProcessing(
            single=" ".join([SPECIAL[BEGIN]] * begin + ["$A"] + [SPECIAL[END]] * end),
            special_tokens=[(SPECIAL[token], token) for token in (BEGIN, END)],
        )

    def ids(self, text: str) -> list[int]:
        """The ids of a text, with begin and end token as configured."""
        return self._tokenizer.encode(text).ids

    def save(self, path: Path) -> None:
        """Writes it as tokenizer.json."""
        path.write_text(self._tokenizer.to_str(), encoding="utf-8")


def filled(rows: Sequence[Sequence[int]], fill: int = PAD) -> Int[Tensor, "batch token"]:
    """Rows of ids as one tensor, padded to the longest."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def padding_of(ids: Int[Tensor, "batch token"]) -> Bool[Tensor, "batch token"] | None:
    """True at padding; None if there is none."""
    padding = ids == PAD
    return padding if bool(padding.any()) else None


def shifted(
    rows: Sequence[Sequence[int]],
) -> tuple[dict[str, Tensor | None], Int[Tensor, "batch token"]]:
    """Arguments of a decoder, and the next token at every position."""
    ids = filled([row[:-1] for row in rows])
    return {"ids": ids, "padding": padding_of(ids)}, filled([row[1:] for row in rows], IGNORED)
