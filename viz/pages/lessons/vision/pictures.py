"""Pictures of the lesson on vision transformers, one per step."""

import base64
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from viz.pages.image import picture
from viz.pages.lessons import frame, tables

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image
    from torch import Tensor

    from models.attention import Pattern
    from models.lessons.vit_steps import ViTStep
    from models.vit import ViT, ViTConfig

FIRST = 32  # maximum rows of the token heat maps
SHOWN = 8  # maximum numbers shown per patch or token
WIDE = 448  # display width in pixels
COLOURS = ("red", "green", "blue")
LINE = (255, 255, 255)
MARK, AROUND = (214, 0, 140), (255, 255, 255)


@dataclass(frozen=True, eq=False)
class Run:
    """The forward pass of a photo.

    Attributes:
        config: of the network.
        photo: name of the photo.
        network: with random weights.
        steps: results of all steps.
        pattern: of the first block.
    """

    config: "ViTConfig"
    photo: str
    network: "ViT"
    steps: "tuple[ViTStep, ...]"
    pattern: "Pattern"

    @property
    def outputs(self) -> "dict[str, Tensor]":
        """The result of each step, by its number."""
        return {step.number: step.out[0] for step in self.steps}


def draw(page: str, step: int, run: Run, patch: int, head: int) -> None:
    """The picture of one step.

    Args:
        page: prefix of its widget keys.
        step: index of the step, from 0.
        run: the forward pass.
        patch: index of the selected patch.
        head: head of the first block whose weights are shown.
    """
    if step == 0:
        _cut(run, patch)
    elif step in (1, 2, 3):
        _heat(page, str(step + 1), run.outputs[str(step + 1)].numpy())
        _rows(step, run, patch)
        if step == 3:
            _positions(run)
    elif step == 4:
        _weights(page, run, patch, head)
        _lines(run, patch + 1)
    else:
        _classes(page, run.steps[-1])


def _cut(run: Run, patch: int) -> None:
    """The image as patches, and the numbers of one."""
    from models.patches import pair

    cut = _with_grid(photo(run.photo, pair(run.config.image)[0]), run.config, patch)
    frame.show(tables.row(figure(cut, f"Patch {patch} is marked"), _numbers(run, patch)))


def photo(name: str, side: int) -> "Image":
    """A photo, centre-cropped and resized to a square."""
    from hashlib import sha256

    from models.image import fit_image

    data = picture.PHOTOS[name].read_bytes()
    opened = picture.opened_image(sha256(data).hexdigest(), data)
    return fit_image(opened, side, side, "crop")[0]


def _with_grid(image: "Image", config: "ViTConfig", marked: int) -> "Image":
    """The image with grid lines between patches, one of them framed."""
    from PIL import Image, ImageDraw

    from models.patches import pair

    side, patch = pair(config.image)[0], pair(config.patch)[0]
    scale = max(1, WIDE // side)
    large = image.resize((side * scale, side * scale), Image.Resampling.NEAREST)
    pen, step = ImageDraw.Draw(large, "RGBA"), patch * scale
    if step > 3:
        for place in range(0, side * scale, step):
            pen.line((place, 0, place, side * scale), fill=(*LINE, 130))
            pen.line((0, place, side * scale, place), fill=(*LINE, 130))
    row, col = divmod(marked, config.grid[1])
    left, top = col * step, row * step
    for grown, colour in ((5, AROUND), (3, MARK)):
        edge = (left - grown, top - grown, left + step + grown - 1, top + step + grown - 1)
        pen.rectangle(edge, outline=colour, width=3)
    return large


def figure(image: "Image", title: str) -> str:
    """An image as HTML, with its title above."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    data = base64.b64encode(file.getvalue()).decode()
    wide, high = image.size
    return (
        f'<figure class="lesson-matrix"><figcaption>{title}</figcaption>'
        f'<img alt="{title}" width="{wide}" height="{high}" style="max-width: 100%; height: auto"'
        f' src="data:image/png;base64,{data}"></figure>'
    )


def _numbers(run: Run, patch: int) -> str:
    row = run.outputs["1"][patch]
    count = len(row)
    last = run.config.order.endswith("c")  # channels last: the colours of a pixel are adjacent
    pixels = count // len(COLOURS)
    places = [(n // 3, n % 3) if last else (n % pixels, n // pixels) for n in range(count)]
    names = [f"{pixel} {COLOURS[colour]}" for pixel, colour in places[:SHOWN]]
    return tables.matrix(
        [row[:SHOWN].tolist()],
        title=f"Patch {patch}: the first {len(names)} of its {count:,} numbers",
        rows=(f"patch {patch}",),
        cols=names,
        axes=("patch", "number"),
        kind="signed",
        note="Pixel and colour, from −1 (dark) to 1 (light).",
    )


def _heat(page: str, number: str, values: "np.ndarray") -> None:
    from viz import figures

    tokens, dim = values.shape
    shown = values[:FIRST]
    drawn = figures.heatmap(
        shown,
        title=f"After step {number}: the first {len(shown)} of {tokens:,} rows of {dim}",
        x="feature",
        y="patch" if number == "2" else "token (0 is the class token)",
        bar="value",
        low=-3,
        high=3,
        height=300,
    )
    frame.figure(page, drawn, f"tokens_{number}", f"All numbers after step {number}")


def _rows(step: int, run: Run, patch: int) -> None:
    """The numbers of the selected token."""
    outputs, token = run.outputs, patch + (step > 1)
    now = outputs[str(step + 1)]
    rows = {f"patch {patch}": now[token]}
    if step == 2:
        rows = {"class token": now[0], **rows}
    if step == 3:
        position = run.network.positions.table.detach()[token]
        before = {f"patch {patch}": outputs["3"][token], f"+ position {token}": position}
        rows = {**before, "= after step 4": now[token]}
    frame.show(
        tables.matrix(
            [row[:SHOWN].tolist() for row in rows.values()],
            title=f"Patch {patch} after step {step + 1}",
            rows=list(rows),
            cols=[str(n) for n in range(min(SHOWN, now.shape[-1]))],
            axes=("row", "feature"),
            kind="signed",
            note=f"The first {SHOWN} of {now.shape[-1]} features.",
        )
    )


def _positions(run: Run) -> None:
    table = run.network.positions.table.detach()
    sizes = " × ".join(str(size) for size in table.shape)
    grid = run.config.grid
    frame.shapes(
        ("learned positions", f"{sizes} = {table.numel():,} [[parameters]]"),
        ("grid", f"{grid[0]} × {grid[1]}, and the class token"),
        ("first numbers of position 0", ", ".join(tables.number(v) for v in table[0, :3].tolist())),
    )


def _weights(page: str, run: Run, patch: int, head: int) -> None:
    from viz import figures

    pattern = run.pattern
    weights = pattern.weights(head, [patch + 1], item=0)[0]
    rows, cols = run.config.grid
    drawn = figures.heatmap(
        weights[1:].reshape(rows, cols).numpy(),
        title=f"Untrained · layer 0, head {head}: what patch {patch} attends to",
        x="patch column",
        y="patch row",
        bar="weight",
        low=0,
        high=float(weights.max()),
        square=True,
    )
    alt = f"Weights that patch {patch} gives to every patch"
    frame.figure(page, drawn, "weights", alt, width=520)
    count = pattern.keys
    frame.shapes(
        ("weights of a head", f"{pattern.queries:,} × {count:,} = {pattern.queries * count:,}"),
        ("to the class token", tables.number(weights[0].item())),
        ("sum of the row", tables.number(weights.sum().item())),
    )


def _lines(run: Run, token: int) -> None:
    outputs = run.outputs
    names = {"4": "x after step 4", "5.1": "5.1 norm", "5.2": "5.2 attention", "5.3": "5.3 + x"}
    names |= {"5.4": "5.4 norm", "5.5": "5.5 feed-forward", "5.6": "5.6 + z₁"}
    frame.show(
        tables.matrix(
            [outputs[key][token, :SHOWN].tolist() for key in names],
            title=f"The block's lines for patch {token - 1}",
            rows=list(names.values()),
            cols=[str(n) for n in range(SHOWN)],
            axes=("line", "feature"),
            kind="signed",
            note=f"The first {SHOWN} features.",
        )
    )


def _classes(page: str, step: "ViTStep") -> None:
    from models.output import softmax
    from viz.figures import bars

    found = softmax(step.out[0]).topk(5)
    drawn = bars(
        [f"class {number}" for number in found.indices.tolist()],
        found.values.tolist(),
        title=f"The likeliest of {step.out.shape[1]:,} classes, untrained",
        x="probability",
    )
    frame.figure(page, drawn, "classes", "Probabilities of the five likeliest classes")
