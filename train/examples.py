"""Examples for model cards: an input, and one attention weight to point out.

A recipe gives the query, the keys and a hint. The head and its weight are looked up in the trained
network.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from einops import rearrange
from PIL import Image

from models.card import Example
from models.run import Model, trace
from train.digits import Digit, pictures
from train.objects import Composite
from train.shapes import Scene

Item = str | Scene | Digit | Composite


@dataclass(frozen=True)
class Pointer:
    """An example whose head is not yet determined.

    Attributes:
        name: label of its button.
        item: a text, or the contents of a picture.
        hint: what to look at; a template with {layer}, {head} and {weight}.
        query: position of the query token.
        keys: candidate key positions; the example shows the one with the largest weight. () means
            any.
        kind: "self", "causal" or "cross".
        target: the target of an encoder–decoder; None generates it.
    """

    name: str
    item: Item
    hint: str
    query: int = 0
    keys: Sequence[int] = ()
    kind: str = "self"
    target: str | None = None

    @property
    def file(self) -> str:
        """File name of a picture."""
        return f"{self.name.lower().replace(' ', '-')}.png"

    @property
    def input(self) -> str:
        """The input as the model card has it."""
        return self.item if isinstance(self.item, str) else self.file


def picture(item: Scene | Digit | Composite) -> Image.Image:
    """The picture of an item."""
    pixels = pictures([item])[0] if isinstance(item, Digit) else item.pixels()
    return Image.fromarray(rearrange(pixels, "channel row col -> row col channel").numpy())


def examples_of(model: Model, pointers: Sequence[Pointer]) -> list[Example]:
    """The examples, each with the head that gives one of its keys the most weight."""
    return [_example(model, pointer) for pointer in pointers]


def _example(model: Model, pointer: Pointer) -> Example:
    given: Any = pointer.item if isinstance(pointer.item, str) else picture(pointer.item)
    t = trace(model, given, pointer.target)
    best = Example(pointer.name, pointer.input, pointer.kind, 0, 0, pointer.query, 0, -1.0)
    for site in t.sites:
        if site.kind != pointer.kind:
            continue
        rows = range(pointer.query, pointer.query + 1)
        weights = t.weights(site.layer, kind=site.kind, rows=rows)[:, 0]
        keys = list(pointer.keys or range(site.keys))
        weight, place = weights[:, keys].flatten().max(0)
        if weight > best.weight:
            head, key = int(place) // len(keys), keys[int(place) % len(keys)]
            best = replace(best, layer=site.layer, head=head, key=key, weight=float(weight))
    weight = round(best.weight, 2)
    hint = pointer.hint.format(layer=best.layer, head=best.head, weight=f"{weight:.2f}")
    return replace(best, weight=weight, hint=hint, target=pointer.target)
