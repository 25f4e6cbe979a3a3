"""The way through a block as a picture: what follows on what, what is added where, with numbers."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from viz.pages.lessons import frame, prose, tables

if TYPE_CHECKING:
    from models.lessons.block_steps import BlockStep

NAME = "block"
HIDDEN = 6
# from which line to which each residual connection goes
ROUND = {"post": ((0, 2), (3, 5)), "pre": ((0, 3), (3, 6))}
TITLES = {
    "post": "[[post-norm|Post-norm]]: the norm after the sum",
    "pre": "[[pre-norm|Pre-norm]]: the norm before the layer",
}


def draw(words: Sequence[Sequence[float]]) -> None:
    """The first of these words through a block of either kind."""
    import torch

    from models.lessons.block_steps import block_steps, random_block

    x = torch.tensor([list(map(list, words))])
    shown = [_way(norm, block_steps(random_block(norm, x.shape[-1], HIDDEN), x)) for norm in ROUND]
    frame.show(tables.row(*shown))
    count, width = x.shape[1:]
    frame.shapes(
        ("x, and every line", f"{count} words × {width} features"),
        ("shown", "1 word"),
    )


def _way(norm: str, steps: "Sequence[BlockStep]") -> str:
    """One block as a table: brackets, the name of each line, and its numbers."""
    lines = "".join(_line(n, step, ROUND[norm]) for n, step in enumerate(steps))
    return (
        f'<figure class="lesson-matrix lesson-way"><figcaption>{prose.html(TITLES[norm])}'
        f"</figcaption><table>{lines}</table></figure>"
    )


def _line(place: int, step: "BlockStep", brackets: Sequence[tuple[int, int]]) -> str:
    sides = "".join(_side(place, *bracket) for bracket in brackets)
    kind = {"+": "sum", "norm": "norm", "x": "x"}.get(step.name, "layer")
    title = {"+": "+ x", "x": "x"}.get(step.name, step.name)
    if step.name == "+" and place > 3:
        title = "+ what went in"
    numbers = "".join(f"<td>{tables.number(v, 3)}</td>" for v in step.out[0, 0].tolist())
    return f'<tr>{sides}<th scope="row"><b class="{kind}">{escape(title)}</b></th>{numbers}</tr>'


def _side(place: int, first: int, last: int) -> str:
    if place == first:
        return f'<td class="round" rowspan="{last - first + 1}" aria-hidden="true"></td>'
    return "" if first < place <= last else '<td class="none"></td>'
