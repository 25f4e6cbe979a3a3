"""Examples for readers: an input, and one attention weight to point out.

A recipe says where to look (which query, which key) and what that shows. Which head it is, and how
much weight it gives, is found in the network once it is trained.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from einops import rearrange
from PIL import Image

from models.files.card import Example
from models.run import Model, trace
from train.digits import Digit, pictures
from train.shapes import Scene

Item = str | Scene | Digit


@dataclass(frozen=True)
class Pointer:
    """An example whose head is not known yet.

    Attributes:
        name: on its button.
        item: a text, or a picture's contents.
        hint: what to look at; {layer}, {head} and {weight} are filled in.
        query: position of the token that attends.
        keys: positions it may attend to; the example shows the one it gives the most weight. ()
            means any.
        kind: "self", "causal" or "cross".
        target: what an encoder–decoder is to write; None lets it write.
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
        """Where a picture is kept."""
        return f"{self.name.lower().replace(' ', '-')}.png"

    @property
    def input(self) -> str:
        """What the model's card says of it."""
        return self.item if isinstance(self.item, str) else self.file


def picture(item: Scene | Digit) -> Image.Image:
    """The picture of an item."""
    pixels = item.pixels() if isinstance(item, Scene) else pictures([item])[0]
    return Image.fromarray(rearrange(pixels, "channel row col -> row col channel").numpy())


def shown(model: Model, pointers: Sequence[Pointer]) -> list[Example]:
    """The examples, each with the head that gives one of its keys the most weight."""
    return [_shown(model, pointer) for pointer in pointers]


def _shown(model: Model, pointer: Pointer) -> Example:
    given: Any = pointer.item if isinstance(pointer.item, str) else picture(pointer.item)
    found = trace(model, given, pointer.target)
    best = Example(pointer.name, pointer.input, "", pointer.kind, 0, 0, pointer.query, 0, -1.0)
    for site in found.sites:
        if site.kind != pointer.kind:
            continue
        rows = range(pointer.query, pointer.query + 1)
        weights = found.weights(site.layer, kind=site.kind, rows=rows)[:, 0]
        keys = list(pointer.keys or range(site.keys))
        weight, place = weights[:, keys].flatten().max(0)
        if weight > best.weight:
            head, key = int(place) // len(keys), keys[int(place) % len(keys)]
            best = replace(best, layer=site.layer, head=head, key=key, weight=float(weight))
    weight = round(best.weight, 2)
    look = pointer.hint.format(layer=best.layer, head=best.head, weight=f"{weight:.2f}")
    return replace(best, weight=weight, hint=look, target=pointer.target)
