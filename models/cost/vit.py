"""Parts and costs of the vision transformer (see models/cost/parts.py)."""

from math import prod

from models.blocks import share_or
from models.classifier import Classifier
from models.cost.blocks import block, dropout
from models.cost.parts import Part, Shape, group, linear, norm
from models.patches import Patches, cut, pair
from models.positional import GridPositions
from models.vit import ViT, ViTConfig

ADDED = {
    "learned": ("Learned positions", "x + T[position]"),
    "sinusoidal": ("Sinusoidal positions", "x + P[position]"),
    "sincos2d": ("2-D sin-cos positions", "x + P[row, column]"),
}


def vit_parts(config: ViTConfig) -> list[Part]:
    """The parts of a vision transformer, for an image of the size it is built for."""
    shape: Shape = (("tokens", config.tokens), ("dim", config.width))
    parts = _embedded(config, shape)
    parts.append(block(config, config.tokens))
    if config.norm == "pre":
        parts.append(norm("norm", "Final norm", shape, ViT.forward, config.norm_kind))
    return [*parts, *_head(config, shape)]


def _embedded(config: ViTConfig, shape: Shape) -> list[Part]:
    """From pixels to the input of the first block."""
    (rows, cols), (high, wide) = pair(config.image), pair(config.patch)
    pixels: Shape = (("channels", config.channels), ("rows", rows), ("columns", cols))
    count, numbers = prod(config.grid), config.channels * high * wide
    flat: Shape = (("patches", count), ("numbers", numbers))
    parts = [Part("input", "Image", "input", "pixels", pixels, pixels, ViT.embed)]
    projected: Shape = (flat[0], shape[1])
    if config.patches == "conv":
        parts.append(_convolution(pixels, projected, (high, wide)))
    else:
        formula = f"pixels of each {high} × {wide} patch in a row: {config.order}"
        parts.append(Part("cut", "Cut", "pool", formula, pixels, flat, cut))
    if config.patches == "linear" and config.dim is not None:
        parts.append(linear("project", "Projection", flat, projected, Patches.forward))
    if config.patch_norm:
        parts.append(norm("patch_norm", "Norm", projected, ViT.embed, config.norm_kind))
    if config.prefix:
        first = ["class token"] if config.head == "class" else []
        more = [f"{config.registers} registers"] if config.registers else []
        extra = len(config.prefix) * config.width
        title = " and ".join(first + more).capitalize()
        runs = ViT.embed
        parts.append(Part("prefix", title, "embedding", "[t | x]", projected, shape, runs, extra))
    if config.positions in ADDED:
        parts.append(_positions(config, shape))
    return parts


def _convolution(pixels: Shape, gives: Shape, patch: tuple[int, int]) -> Part:
    channels, width, inside = pixels[0][1], gives[1][1], prod(patch)
    return Part(
        *("project", "Convolution", "linear"),
        f"convolution of {patch[0]} × {patch[1]} pixels with stride {patch[0]}",
        *(pixels, gives, Patches.forward),
        parameters=channels * inside * width + width,
        flops=2 * gives[0][1] * channels * inside * width,
    )


def _positions(config: ViTConfig, shape: Shape) -> Part:
    title, formula = ADDED[config.positions]
    first = int(config.head == "class")
    numbers = (first + prod(config.grid)) * config.width if config.positions == "learned" else 0
    name, kind = "positions", "positions"
    return Part(name, title, kind, formula, shape, shape, GridPositions.forward, numbers)


def _head(config: ViTConfig, shape: Shape) -> list[Part]:
    """Pooling and the layers of the head."""
    if not config.layers:
        return []
    width, count = config.width, prod(config.grid)
    read: Shape = (("features", width * count if config.head == "flatten" else width),)
    pooling = {
        "class": ("Class token", "x[class]"),
        "mean": ("Mean", "mean of all patches"),
        "flatten": ("Flatten", "all patches in a row"),
    }
    title, formula = pooling[config.head]
    parts = [Part("pool", title, "pool", formula, shape, read, ViT.pool)]
    runs, bend = Classifier.forward, config.head_activation or config.activation
    share = share_or(config.head_dropout, config.dropout)
    for number, width in enumerate(config.layers, start=1):
        last, gives = number == len(config.layers), (("classes", width),)
        if share:
            parts.append(dropout(f"dropout_{number}", share, read, runs))
        if last:
            parts.append(linear("classes", "Classes", read, gives, runs))
            break
        gives: Shape = (("features", width),)
        parts += [
            linear(f"layer_{number}", f"Layer {number}", read, gives, runs),
            Part(
                *(f"norm_{number}", "BatchNorm", "norm"),
                "γ · (x − mean) / √(variance + ε) + β, over the batch",
                *(gives, gives, runs, 2 * width),
            ),
            Part(f"activation_{number}", bend, "activation", f"{bend}(x)", gives, gives, runs),
        ]
        read = gives
    return [group("head", "Head", "head", parts, source=Classifier.forward)]
