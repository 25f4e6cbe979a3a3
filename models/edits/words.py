"""The words that sentences about edits share."""

from collections.abc import Iterable

from models.edits.fields import Numbers
from models.where import Where

LEAVES = "which the model never saw; the average is gentler"


def place(where: Where, head: Numbers = None, *, heads: str = "head") -> str:
    """A layer and some of its heads: "Layer 3, heads 0 and 2"."""
    layer = "Every layer" if where.layer is None else f"Layer {where.layer}"
    given = [where.tower, where.kind and f"{where.kind} attention", where.module]
    given.append(None if where.part is None else f"part {where.part}")
    named = [each for each in given if each]
    layer += f" ({', '.join(named)})" if named else ""
    return layer if heads == "" else f"{layer}, {some(head, heads)}"


def some(wanted: Numbers, noun: str) -> str:
    """Some numbers with their noun: "every head", "head 2", "heads 0, 2 and 5"."""
    if wanted is None:
        return f"every {noun}"
    if isinstance(wanted, int):
        return f"{noun} {wanted}"
    if not wanted:
        return f"no {noun}"
    return f"{noun}{'s' if len(wanted) > 1 else ''} {joined(map(str, wanted))}"


def joined(words: Iterable[str]) -> str:
    """Words as a list in a sentence: "1, 2 and 3"; a long one is cut short."""
    names = [*words]
    if len(names) > 8:
        names = [*names[:6], f"{len(names) - 6} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
