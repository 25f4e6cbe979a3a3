"""The dictionary typed by the user, and its answers."""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons.tables import number

if TYPE_CHECKING:
    from torch import Tensor

MOST = 12  # entries
LONGEST = 40  # characters of a key, a value or a query
ROUNDING = 1e-6  # float32 rounding error of a sum of shares
LARGEST, FARTHEST = 1_000_000, 1000  # limits of values and of similarities, for legibility


@dataclass(frozen=True)
class Entries:
    """The dictionary as typed: a value for each key."""

    keys: list[str]
    values: list[str]

    @property
    def numbers(self) -> list[float] | None:
        """The values as numbers; None if any of them is not a number."""
        try:
            found = [float(value) for value in self.values]
        except ValueError:
            return None
        return found if all(isfinite(each) for each in found) else None


def entries(text: str) -> Entries:
    """Parses a dictionary with one entry per line.

    Raises:
        ValueError: for a line without a colon, no or too many entries, or entries out of range.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not 1 <= len(lines) <= MOST:
        raise ValueError(f"expected 1 to {MOST} entries, received {len(lines)}")
    pairs = [line.partition(":") for line in lines]
    for line, (key, colon, value) in zip(lines, pairs, strict=True):
        if not (colon and key.strip() and value.strip()) or len(line) > 2 * LONGEST:
            raise ValueError(f"expected “key: value” in each line, received “{line[:LONGEST]}”")
    keys = [key.strip() for key, _, _ in pairs]
    found = Entries(keys, [value.strip() for _, _, value in pairs])
    if any(abs(each) > LARGEST for each in found.numbers or []):
        raise ValueError(f"expected values from −{LARGEST:,} to {LARGEST:,}")
    return found


def similarities(kind: str, query: str, keys: list[str], typed: str) -> "Tensor":
    """The similarity of the query with every key, by the chosen measure.

    Raises:
        ValueError: for typed similarities that are not numbers, or not one per key.
    """
    import torch

    from models.lessons import dictionary

    if kind == "given":
        try:
            numbers = [float(part) for part in typed.replace(",", " ").split()]
        except ValueError:
            raise ValueError(f"expected numbers, received “{typed[:LONGEST]}”") from None
        if any(not abs(each) <= FARTHEST for each in numbers):
            raise ValueError(f"expected similarities from −{FARTHEST} to {FARTHEST}")
        if len(numbers) != len(keys):
            raise ValueError(f"expected {len(keys)} numbers, one a key, received {len(numbers)}")
        return torch.tensor(numbers)
    if kind == "embedding":
        vectors = torch.tensor([_vector(key, shared.device()) for key in keys])
        return dictionary.embedded(torch.tensor(_vector(query, shared.device())), vectors)
    return {"exact": dictionary.exact, "edit": dictionary.edits}[kind](query, keys)


def answer(found: Entries, weights: "Tensor") -> str:
    """The answer of the dictionary: a number, or the values with the largest share."""
    import torch

    from models.lessons import dictionary

    if dictionary.case(weights) == "no valid answer":
        return "none"
    if found.numbers is not None:
        values = torch.tensor(found.numbers)[:, None]
        return number(dictionary.pooled(weights, values).item())
    mixed = dictionary.shares(weights, found.values)
    most = max(mixed.values())
    best = [value for value, share in mixed.items() if most - share < ROUNDING]
    return f"{' or '.join(best)} ({number(most)}{' each' if len(best) > 1 else ''})"


@st.cache_resource(max_entries=512, show_spinner=False)
def _vector(text: str, device: str) -> list[float]:
    from models.lessons import dictionary

    model = shared.opened(shared.Choice("minilm"), device)
    with shared.forward_pass(model):
        return dictionary.meaning(model, text).tolist()
