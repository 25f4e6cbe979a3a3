"""Attention weights between whole words, and without special tokens.

Attention to a word is the sum over its tokens, attention from a word the mean over its tokens
(Clark et al. 2019, "What Does BERT Look At?", section 4.1): rows that sum to 1 still do.
"""

import unicodedata
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.trace import Tokens

Group = tuple[int, ...]
APOSTROPHES = frozenset("'’ʼ")


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


def renormalised(weights: Float[Tensor, "*head query key"]) -> Float[Tensor, "*head query key"]:
    """Each row divided by its sum; all-zero rows stay zero."""
    sums = weights.sum(-1, keepdim=True)
    return torch.where(sums > 0, weights / sums.clamp_min(torch.finfo(weights.dtype).tiny), 0.0)


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
    return torch.tensor(places, device=device), torch.tensor(owners, device=device)


# --- which tokens are a word ----------------------------------------------------------------------


def words_of(tokens: Tokens) -> tuple[Group, ...]:
    """The tokens of each word, in order; every token belongs to exactly one word.

    Adjacent tokens form a word if no gap separates them in the text and neither is punctuation
    (except an apostrophe inside a word). In scripts without spaces each token is a word. So is a
    token without a span in the text.
    """
    groups: list[list[int]] = []
    for place in range(len(tokens)):
        if place and _continues(tokens, place, inside=len(groups[-1]) > 1):
            groups[-1].append(place)
        else:
            groups.append([place])
    return tuple(tuple(group) for group in groups)


def _continues(tokens: Tokens, place: int, *, inside: bool) -> bool:
    """Whether a token continues the word of the previous one."""
    before, own = tokens.spans[place - 1], tokens.spans[place]
    if before is None or own is None or tokens.special[place - 1] or tokens.special[place]:
        return False
    if tokens.segments[place - 1] != tokens.segments[place] or own[0] > before[1]:
        return False
    if own[0] < before[1]:
        return True  # pieces of the same character
    last, text = _text(tokens, place - 1), _text(tokens, place)
    if APOSTROPHES.issuperset(text):
        return last[-1:].isalnum() and _goes_on(tokens, place)
    if APOSTROPHES.issuperset(last):
        return inside and _joins(text[:1])
    return _joins(last[-1:]) and _joins(text[:1])


def _goes_on(tokens: Tokens, place: int) -> bool:
    """Whether the next token follows without a gap, with a letter or digit."""
    if place + 1 == len(tokens):
        return False
    own, after = tokens.spans[place], tokens.spans[place + 1]
    touches = own is not None and after is not None and own[1] == after[0]
    return touches and _text(tokens, place + 1)[:1].isalnum()


def _joins(character: str) -> bool:
    """Whether the character can be inside a word."""
    if not character or unicodedata.east_asian_width(character) in "WF":
        return False
    return (
        character.isalnum() or character in APOSTROPHES or unicodedata.category(character) == "Mn"
    )


def _text(tokens: Tokens, place: int) -> str:
    """The text of a token, without the marks in its label ([UNK], 1/3)."""
    label, span = tokens.labels[place], tokens.spans[place]
    end = len(label) if span is None else max(1, span[1] - span[0])
    while end < len(label) and unicodedata.combining(label[end]):
        end += 1
    return label[:end]


def joined_tokens(tokens: Tokens, groups: Sequence[Group]) -> Tokens:
    """The groups as tokens, each with the id of its first token and the joined text."""
    first = [group[0] for group in groups]
    spans = [(tokens.spans[group[0]], tokens.spans[group[-1]]) for group in groups]
    return Tokens(
        ids=tuple(tokens.ids[place] for place in first),
        labels=tuple(_label(tokens, group) for group in groups),
        special=tuple(tokens.special[place] for place in first),
        segments=tuple(tokens.segments[place] for place in first),
        spans=tuple((a[0], b[1]) if a and b else None for a, b in spans),
    )


def _label(tokens: Tokens, group: Group) -> str:
    if len(group) == 1:
        return tokens.labels[group[0]]
    previous, parts = None, []
    for place in group:
        if tokens.spans[place] != previous:
            parts.append(_text(tokens, place))
        previous = tokens.spans[place]
    return "".join(parts)
