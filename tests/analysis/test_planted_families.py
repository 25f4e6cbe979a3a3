"""A word of an answer that reads one known patch, planted in every family.

The vision tower's attention and all positions are taken out, so that an image token is of its own
patches alone. The weights of one attention layer of the text are then solved for: from the row that
writes "dog", its first head looks at the token of a white patch, and from every other row at a key
of the text.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from jaxtyping import Float
from PIL import Image, ImageDraw
from torch import Tensor, nn

from analysis import grounding, masking
from models.inputs.prompt import Prompt
from models.model import Model
from models.picture_grid import Box, PictureGrid
from models.run import load, trace
from models.trace import Site, Trace
from tests.models.vision_language import FAMILIES, NAMES, Family

DOG, SITS = 0, 1  # places of the answer
IDS = torch.tensor([NAMES["dog"], NAMES["sits"]])
SIZES = {"LLaVA-NeXT": (40, 40), "Idefics3": (48, 48), "SmolVLM": (48, 48), "InternVL": (48, 48)}
SIZE = (24, 24)  # of the other families' pictures
GREY, WHITE, BLACK = ((level,) * 3 for level in (128, 255, 1))  # the mean colour is grey
SHARP, LOGIT = 40.0, 12.0  # of a score and of a word, well above the others
FULL = 0.95  # share of a cell that is white, of a token that counts as white
MIXING = ("out_proj", "o_proj", "attn.proj", "attn.projection", "fc2", "down_proj")  # maps back
OF_TEXT = ("fc2", "down_proj")  # those that a vision tower keeps
PLACED = [family for family in FAMILIES if family.grids is not None]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tensors this small take many times longer where threads wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("family", PLACED, ids=lambda family: family.name)
@torch.no_grad()
def test_a_word_lights_its_patch_and_needs_it_alone(family: Family, tmp_path: Any) -> None:
    model = load(str(family.save(tmp_path)))
    _still(model.network)
    site, area = _place(model, SIZES.get(family.name, SIZE))
    picture = _scene(SIZES.get(family.name, SIZE), area)
    before = _ask(model, picture)
    _plant(model, site, picture, area, _white(before, site, area), before)

    t = _ask(model, picture)
    (white,) = _white(t, site, area)
    weights = t.weights(site, head=0)[grounding.rows_of(t, [DOG])[0]]
    assert float(weights[white]) > 0.999
    (rest,) = grounding.rows_of(t, [SITS])
    most = 0.1 if family.name == "Florence-2" else 0.001  # its patches overlap
    assert float(t.weights(site, head=0)[rest, white]) < most
    for mask in ("mean", "cut"):
        how: dict[str, Any] = {"mask": mask, "controls": 1}
        word = masking.need(model, _prompt(picture), IDS, [DOG], area, **how)
        assert word.before > 0.98
        assert word.after < 0.01
        assert min(word.elsewhere) > 0.98
    other = masking.need(model, _prompt(picture), IDS, [SITS], area, controls=0)
    assert other.after == pytest.approx(other.before, abs=0.01)


def _prompt(picture: Image.Image) -> Prompt:
    return Prompt("what is it ?", (picture,))


def _ask(model: Model, picture: Image.Image) -> Trace:
    return trace(model, _prompt(picture), masking.read_whole(model, IDS))


def _scene(size: tuple[int, int], white: Box | None = None) -> Image.Image:
    """A grey picture with a white area, and a black one of its size at the upper left."""
    image = Image.new("RGB", size, GREY)
    if white is not None:
        left, top, right, bottom = (round(side * size[i % 2]) for i, side in enumerate(white))
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, 0, right - left - 1, bottom - top - 1), fill=BLACK)
        draw.rectangle((left, top, right - 1, bottom - 1), fill=WHITE)
    return image


def _still(network: Any) -> None:
    """Takes out what mixes tokens, and positions."""
    for name, module in network.named_modules():
        vision = "vision" in name or "visual" in name
        if name.endswith(MIXING) and not (vision and name.endswith(OF_TEXT)):
            for value in module.parameters(recurse=False):
                value.zero_()
        if isinstance(module, nn.Embedding) and "position" in name:
            module.weight.zero_()
    for name, value in [*network.named_parameters(), *network.named_buffers()]:
        if "position_embedding" in name or "pos_embed" in name or "inv_freq" in name:
            value.zero_()
        elif "gate" in name and value.ndim == 1:
            value.fill_(1.0)


def _place(model: Model, size: tuple[int, int]) -> tuple[Site, Box]:
    """The layer to plant, and the cell in the middle of those that lie on the picture."""
    t = _ask(model, _scene(size))
    site = grounding.sites_on_pictures(t)[0]
    finest = min(t.key_pictures(site), key=lambda grid: _area(grid.cell(0, 0)))
    cells = [finest.cell(row, col) for row in range(finest.rows) for col in range(finest.cols)]
    inside = [cell for cell in cells if min(cell) > -0.01 and max(cell) < 1.01]
    return site, Box(*(min(1.0, max(0.0, round(side, 3))) for side in inside[len(inside) // 2]))


def _area(box: Box) -> float:
    return max(0.0, box.right - box.left) * max(0.0, box.bottom - box.top)


def _common(one: Box, other: Box) -> Box:
    """The part of a picture that two areas share."""
    return Box(
        max(one.left, other.left),
        max(one.top, other.top),
        min(one.right, other.right),
        min(one.bottom, other.bottom),
    )


def _white(t: Trace, site: Site, area: Box) -> list[int]:
    """The tokens whose cells are white."""

    def share(grid: PictureGrid, row: int, col: int) -> float:
        cell = grid.cell(row, col)
        return _area(_common(cell, area)) / _area(cell)

    return [
        int(grid.places[row, col])
        for grid in t.key_pictures(site)
        for row in range(grid.rows)
        for col in range(grid.cols)
        if share(grid, row, col) > FULL
    ]


def _read(
    model: Model, picture: Image.Image, *modules: nn.Module
) -> list[Float[Tensor, "row dim"]]:
    """What linear maps read in a pass."""
    kept: dict[nn.Module, Tensor] = {}
    hooks = [
        module.register_forward_pre_hook(lambda at, given: kept.update({at: given[0]}))
        for module in modules
    ]
    _ask(model, picture)
    for hook in hooks:
        hook.remove()
    return [kept[module].flatten(0, -2).double() for module in modules]


def _alike(rows: Float[Tensor, "row dim"], row: int) -> Float[Tensor, " row"]:
    """1 for the rows that equal one, as those of the same word do, else 0."""
    return ((rows - rows[row]).norm(dim=-1) < 1e-4).float()


def _solved(rows: Float[Tensor, "row dim"], wanted: Tensor) -> Float[Tensor, " dim"]:
    """The shortest vector whose products with some rows are nearest to these."""
    return torch.linalg.lstsq(rows, wanted.double()[:, None], driver="gelsd").solution[:, 0].float()


def _hidden(picture: Image.Image, area: Box) -> list[Image.Image]:
    """The picture with the area in its mean colour, and blurred."""
    masks: tuple[masking.Mask, ...] = ("mean", "blur")
    return [masking.painted(picture, area, mask) for mask in masks]


def _plant(
    model: Model, site: Site, picture: Image.Image, area: Box, white: Sequence[int], t: Trace
) -> None:
    """Lets the row that writes the first word look at white tokens, and others at a word."""
    network: Any = model.network
    attention = network.get_submodule(site.module)
    out = getattr(attention, "o_proj", None) or attention.out_proj
    (asking,) = grounding.rows_of(t, [DOG])
    queries, seen = _read(model, picture, attention.q_proj, attention.k_proj)
    hidden = _hidden(picture, area)
    keys = torch.cat([seen, *(_read(model, image, attention.k_proj)[0] for image in hidden)])
    is_white = torch.zeros(len(keys))
    is_white[list(white)] = 1
    rest = _alike(keys, 0 if site.kind == "cross" else asking)  # a key that every row sees
    asks = _alike(queries, asking)
    looked = _solved(keys, is_white)
    for linear in (attention.q_proj, attention.k_proj, attention.v_proj, out):
        for value in linear.parameters():
            value.zero_()
    attention.q_proj.weight[3] = SHARP * _solved(queries, asks)
    attention.q_proj.weight[2] = SHARP * _solved(queries, 1 - asks)
    attention.k_proj.weight[3], attention.k_proj.weight[2] = looked, _solved(keys, rest)
    attention.k_proj.weight[1] = _solved(keys, torch.ones(len(keys)))  # none is normalised from 0
    if hasattr(attention, "q_norm"):
        attention.q_norm.weight.fill_(SHARP / 2)
        attention.k_norm.weight.fill_(1.0)
    attention.v_proj.weight[0] = looked
    out.weight[:, 0] = 3 * torch.randn(len(out.weight), generator=torch.Generator().manual_seed(1))
    _plant_words(model, asking, picture, hidden[0])


def _plant_words(model: Model, asking: int, picture: Image.Image, hidden: Image.Image) -> None:
    """Lets the model write "dog" where white was read, else "cat", and then "sits"."""
    head: Any = model.network.get_output_embeddings()
    head.weight = nn.Parameter(torch.zeros_like(head.weight))  # no longer that of the input
    states = torch.cat([_read(model, image, head)[0][asking:][:2] for image in (picture, hidden)])
    for word in ("dog", "cat", "sits"):
        says = torch.tensor([each == word for each in ("dog", "sits", "cat", "sits")])
        head.weight[NAMES[word]] = _solved(states, LOGIT * says)
