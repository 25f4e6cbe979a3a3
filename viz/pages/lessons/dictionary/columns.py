"""The table of the lesson on the soft dictionary: what is worked out for each key, in its order."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from viz.pages.lessons.dictionary.data import Entries, answer
from viz.pages.lessons.tables import bracketed, number

if TYPE_CHECKING:
    from torch import Tensor


class Column(NamedTuple):
    """One column: from which step on it is there, and what its cells add up to."""

    step: int
    title: str
    cells: list[str]
    total: str = ""


def columns(
    found: Entries,
    query: str,
    similar: "Tensor",
    weighed: "Tensor",
    *,
    by_letters: bool,
    temperature: float | None,
) -> Iterator[Column]:
    """The columns from left to right.

    Args:
        found: the dictionary.
        query: what it is asked.
        similar: to every key.
        weighed: what became of the similarities.
        by_letters: whether they come from an edit distance, which then has a column.
        temperature: of a softmax, whose exponentials then have a column.
    """
    from models.lessons import dictionary

    yield Column(0, "[[key]]", found.keys, "sum")
    yield Column(0, "[[value]]", found.values)
    if by_letters:
        apart = [str(dictionary.edit_distance(query, key)) for key in found.keys]
        yield Column(1, "[[edit distance|d]]", apart)
    yield Column(1, "[[similarity]] s", _numbers(similar))
    if temperature is not None:
        exps, shift = dictionary.exponentials(similar, temperature)
        title = f"exp(s / T − {bracketed(number(shift))})" if shift else "exp(s / T)"
        yield Column(2, title, _numbers(exps), number(exps.sum().item()))
    yield Column(2, "[[weights|weight]] α", _numbers(weighed), number(weighed.sum().item()))
    total = answer(found, weighed) if found.heights is not None else ""
    yield Column(3, "α × value", _products(found, weighed), total)


def _numbers(values: "Tensor") -> list[str]:
    return [number(each) for each in values.tolist()]


def _products(found: Entries, weighed: "Tensor") -> list[str]:
    """Each weight times its value; words are only named."""
    import torch

    from models.lessons import dictionary

    if found.heights is None:
        pairs = zip(weighed.tolist(), found.values, strict=True)
        return [f"{number(alpha)} × {value}" for alpha, value in pairs]
    values = torch.tensor(found.heights)[:, None]
    return _numbers(dictionary.contributions(weighed, values)[:, 0])
