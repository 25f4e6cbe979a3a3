"""Vocabularies of the tasks, and their tokenizer files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from jaxtyping import Bool, Int
from torch import Tensor

PAD, BEGIN, END, UNKNOWN, MASK = range(5)
SPECIAL = ("[PAD]", "[BEGIN]", "[END]", "[UNK]", "[MASK]")
SPLITS = {  # pre-tokenization: patterns, each with the treatment of its matches
    "characters": ((r"\s+", "removed"), (r".", "isolated")),
    "characters and spaces": ((r"[\s\S]", "isolated"),),
    "words": ((r"\s+", "removed"), (r"[^\w\s]", "isolated")),
}


@dataclass(frozen=True)
class Vocabulary:
    """Special tokens, followed by the tokens of a task.

    Attributes:
        tokens: of the task, in lower case.
        split: pre-tokenization, one of `SPLITS`.
        begin: whether texts start with a begin token.
        end: whether texts end with an end token.
    """

    tokens: tuple[str, ...]
    split: str
    begin: bool = False
    end: bool = False

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise ValueError(f"split: expected one of {list(SPLITS)}, received {self.split!r}")
        if len(set(self.tokens)) < len(self.tokens):
            raise ValueError(f"tokens: expected no token twice, received {self.tokens}")

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.tokens)

    @property
    def names(self) -> tuple[str, ...]:
        """Every token, by its id."""
        return (*SPECIAL, *self.tokens)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The id of every token."""
        return {token: number for number, token in enumerate(self.names)}

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens, with begin and end token as configured."""
        numbers = [self.numbers[token] for token in tokens]
        return [BEGIN] * self.begin + numbers + [END] * self.end

    def save(self, path: Path) -> None:
        """Writes the equivalent tokenizer.json."""
        from tokenizers import AddedToken, Regex, Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.normalizers import Lowercase
        from tokenizers.pre_tokenizers import PreTokenizer, Split
        from tokenizers.pre_tokenizers import Sequence as InTurn
        from tokenizers.processors import TemplateProcessing

        reader = Tokenizer(WordLevel(dict(self.numbers), unk_token=SPECIAL[UNKNOWN]))
        reader.normalizer = Lowercase()
        steps: list[PreTokenizer] = [Split(Regex(by), how) for by, how in SPLITS[self.split]]
        reader.pre_tokenizer = InTurn(steps)
        reader.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL])
        ends = [(SPECIAL[token], token) for token in (BEGIN, END)]
        parts = [SPECIAL[BEGIN]] * self.begin + ["$A"] + [SPECIAL[END]] * self.end
        reader.post_processor = TemplateProcessing(single=" ".join(parts), special_tokens=ends)
        path.write_text(reader.to_str(), encoding="utf-8")


def filled(rows: Sequence[Sequence[int]], fill: int = PAD) -> Int[Tensor, "batch token"]:
    """Rows of ids as one tensor, padded to the longest."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def padding_of(ids: Int[Tensor, "batch token"]) -> Bool[Tensor, "batch token"] | None:
    """True at padding; None if there is none."""
    padding = ids == PAD
    return padding if bool(padding.any()) else None
