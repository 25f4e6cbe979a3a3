"""Attention weights between whole words.

Attention to a word is the sum over its tokens, attention from a word the mean over its tokens
(Clark et al. 2019, "What Does BERT Look At?", section 4.1): rows that sum to 1 still do.
"""

from collections.abc import Sequence

import regex
import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.trace import Tokens

Group = tuple[int, ...]
BOUNDARY = regex.compile(r"(?w)(?<!\p{Zs})\b")  # a space belongs to the word behind it
# Marks and invisible characters: a label has them beyond the span of its token.
MARKS = regex.compile(r"[\p{M}\p{Cf}]*")


def joined(
    weights: Float[Tensor, "*head query key"],
    queries: Sequence[Sequence[int]],
    keys: Sequence[Sequence[int]],
) -> Float[Tensor, "*head word other"]:
    """Weights between groups of tokens: summed over a group's keys, averaged over its queries.

    Args:
        weights: between single tokens.
        queries: the rows of each group; rows outside any group are dropped.
        keys: the columns of each group; columns outside any group are dropped.
    """
    summed = _summed(weights, keys, -1)
    counts = torch.tensor([len(group) for group in queries], device=weights.device)
    return _summed(summed, queries, -2) / counts[:, None]


def _summed(x: Tensor, groups: Sequence[Sequence[int]], axis: int) -> Tensor:
    places, owners = _members(groups, x.device)
    shape = list(x.shape)
    shape[axis] = len(groups)
    return x.new_zeros(shape).index_add_(axis, owners, x.index_select(axis, places))


def _members(
    groups: Sequence[Sequence[int]], device: torch.device
) -> tuple[Int[Tensor, " token"], Int[Tensor, " token"]]:
    """Every grouped token, and the index of its group."""
    places = [place for group in groups for place in group]
    owners = [number for number, group in enumerate(groups) for _ in group]
    whole = torch.long  # also of no groups
    return (
        torch.tensor(places, dtype=whole, device=device),
        torch.tensor(owners, dtype=whole, device=device),
    )


# --- which tokens are a word ----------------------------------------------------------------------


def words_of(tokens: Tokens) -> tuple[Group, ...]:
    """The tokens of each word, in order; every token belongs to exactly one word.

    A token continues the word of the one before it where the two touch or overlap and no word
    begins between them by Unicode's rules (UAX #29, default word boundaries). Scripts that these
    rules have no words for keep their tokens. Tokens that did not come from a text have no spans,
    and stay alone.
    """
    numbers = text_numbers(tokens)
    starts = {
        number: frozenset(match.start() for match in BOUNDARY.finditer(text))
        for number, text in texts_of(tokens).items()
    }
    groups: list[list[int]] = []
    for place in range(len(tokens)):
        same = place and numbers[place - 1] == numbers[place]
        if same and _continues(tokens, place, starts.get(numbers[place], frozenset())):
            groups[-1].append(place)
        else:
            groups.append([place])
    return tuple(tuple(group) for group in groups)


def _continues(tokens: Tokens, place: int, boundaries: frozenset[int]) -> bool:
    """Whether a token continues the word of the previous one."""
    before, span = tokens.spans[place - 1], tokens.spans[place]
    if before is None or span is None or tokens.special[place - 1] or tokens.special[place]:
        return False
    if span[0] < before[1] or before[0] == before[1] == span[0]:
        return True  # pieces of the same character; a space that the tokenizer put in front
    touches = span[0] <= before[0] + len(_text(tokens, place - 1))
    return touches and span[0] not in boundaries


def text_numbers(tokens: Tokens) -> tuple[int, ...]:
    """Which of the texts each token is of, from 0: of a pair, the first or the second.

    Models that do not number their segments (RoBERTa: two separators between the texts) restart
    the positions of the characters.
    """
    if any(tokens.segments):
        return tokens.segments
    numbers, number, last, apart = [], 0, -1, False
    for span, special in zip(tokens.spans, tokens.special, strict=True):
        if span is None or special:
            apart = True
        else:
            number += span[0] < last or (apart and span[0] == last)
            last, apart = span[0], False
        numbers.append(number)
    return tuple(numbers)


def texts_of(tokens: Tokens) -> dict[int, str]:
    """Each text as far as tokens cover it, with spaces for the rest, by `text_numbers`."""
    characters: dict[int, dict[int, str]] = {}
    numbers = text_numbers(tokens)
    for place, span in enumerate(tokens.spans):
        if span is not None and not tokens.special[place]:
            known = characters.setdefault(numbers[place], {})
            known.update(enumerate(_text(tokens, place), start=span[0]))
    return {
        number: "".join(known.get(place, " ") for place in range(max(known, default=-1) + 1))
        for number, known in characters.items()
    }


def _text(tokens: Tokens, place: int) -> str:
    """The text of a token, without the marks in its label ([UNK], 1/3)."""
    label, span = tokens.labels[place], tokens.spans[place]
    width = len(label) if span is None else span[1] - span[0]
    marks = MARKS.match(label, width)
    return label[: marks.end() if marks else width] if width else ""


def joined_tokens(tokens: Tokens, groups: Sequence[Group]) -> Tokens:
    """The groups as tokens, each with the id of its first token and the joined text.

    Their segments are the numbers of the texts.
    """
    texts, numbers = texts_of(tokens), text_numbers(tokens)
    first = [group[0] for group in groups]
    spans = [(tokens.spans[group[0]], tokens.spans[group[-1]]) for group in groups]
    return Tokens(
        ids=tuple(tokens.ids[place] for place in first),
        labels=tuple(_label(tokens, group, texts.get(numbers[group[0]], "")) for group in groups),
        special=tuple(tokens.special[place] for place in first),
        segments=tuple(numbers[place] for place in first),
        spans=tuple((a[0], b[1]) if a and b else None for a, b in spans),
        texts=tuple("".join(tokens.texts[place] for place in group) for group in groups),
    )


def _label(tokens: Tokens, group: Group, text: str) -> str:
    """The part of its text that the tokens of a group cover, each character once."""
    start, last = tokens.spans[group[0]], group[-1]
    end = tokens.spans[last]
    if len(group) == 1 or start is None or end is None:
        return "".join(tokens.labels[place] for place in group)
    covered = slice(start[0], end[0] + len(_text(tokens, last)))
    return text[covered]
