"""A vision transformer: patches become a sequence, and the class token attends to them.

DINOv2 reads a photo; a small network, trained for the app, answers questions about a picture.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from viz.course.boards import Board, board, curve, dots, panel, picture, table
from viz.course.inputs import InputError
from viz.course.real import about
from viz.course.trained import trained
from viz.course.vision import parts, real, sound

if TYPE_CHECKING:
    from models.lessons.shuffled import Shuffle
    from models.vit import ViTOutput

MODEL = "objects"
PICTURES = ("a-star", "a-heart", "a-moon")
ENLARGED = 4  # side of a pixel in a patch's file
BEST = 3  # answers to each question


class Cut(NamedTuple):
    """A picture and its patches.

    Attributes:
        pixels: as the network reads them.
        patches: files as data: URLs, row by row.
    """

    pixels: Any
    patches: tuple[str, ...]


def numbers(
    network: str,
    photo: str,
    picture: str,
    shuffle: "Shuffle",
    layer: int,
    head: int,
    position: int,
) -> dict[str, Any]:
    """Patches and their positions, the class token's weights, and the answers.

    Args:
        network: "dinov2", which reads the photo, or "objects", which reads the picture.
        photo: name of a photo.
        picture: one of `PICTURES`.
        shuffle: see `run_shuffled`.
        layer: of the weights.
        head: of the weights.
        position: the patch position whose vector is compared with all others.

    Raises:
        InputError: for a layer, head or position that the small network lacks.
    """
    if network == real.MODEL:
        return _of_photo(photo, shuffle, layer, head, position)
    return _of_picture(picture, shuffle, layer, head, position)


def _of_photo(
    photo: str, shuffle: "Shuffle", layer: int, head: int, position: int
) -> dict[str, Any]:
    patches = _tiles(photo)
    attends = real.attends(photo, shuffle, layer, head)
    return {
        **_sequence(real.SIDE, real.PATCH, len(patches), shuffle, attends["at"]),
        **_compared(position, real.alike(position)["similar"]),
        **real.moved(photo, shuffle),
        "patches": patches,
        "width": real.WIDTH,
        "depth": real.DEPTH,
        "own": attends["own"],
        "largest": attends["largest"],
        "block": real.norms(photo, shuffle, layer),
        **about(real.MODEL, photo=photo, layer=layer, head=head),
    }


def _of_picture(
    picture: str, shuffle: "Shuffle", layer: int, head: int, position: int
) -> dict[str, Any]:
    cut, plain, out = _cut(picture), _run(picture, "none"), _run(picture, shuffle)
    network, _ = _network()
    config, count = network.config, len(cut.patches)
    if layer >= config.depth or head >= config.heads or position >= count:
        raise InputError(
            f"expected a layer below {config.depth}, a head below {config.heads} and a position"
            f" below {count}, received {layer}, {head} and {position}"
        )
    attends = parts.weights(out, layer, head)
    return {
        **_sequence(config.image, config.patch, count, shuffle, attends["at"]),
        **_compared(position, parts.alike(network, config.grid, position)),
        "patches": list(cut.patches),
        "width": config.width,
        "depth": config.depth,
        "own": attends["own"],
        "largest": attends["largest"],
        "changed": (_shares(out) - _shares(plain)).abs().max().item(),
        "block": _block(picture, shuffle, layer),
        "questions": _answers(out),
        "before": _answers(plain)[0]["best"][0],
        "answer": _answers(out)[0]["best"][0],
    }


def _sequence(
    side: int, patch: int, count: int, shuffle: "Shuffle", weights: list[float]
) -> dict[str, Any]:
    """Sizes of a picture in patches, the place of each and its weight."""
    placed = parts.places(count, shuffle)
    return {
        "cols": side // patch,
        "count": count,
        "tokens": count + 1,
        "side": side,
        "patch": patch,
        "flat": 3 * patch**2,
        **placed,
        "weights": [weights[place] for place in placed["sequence"]],
    }


def _compared(position: int, similar: list[float]) -> dict[str, Any]:
    return {"position": position, "similar": similar, "least": min(similar)}


def _network() -> Any:
    model, card = trained(MODEL)
    return model.network, card


@lru_cache(maxsize=4)
def _tiles(photo: str) -> list[str]:
    return parts.patches(real.image(photo), real.PATCH, 1)


@lru_cache(maxsize=8)
def _cut(picture: str) -> Cut:
    """A shipped example picture and its patches."""
    from PIL import Image

    from models.catalogue import CHECKPOINTS
    from models.image import to_pixels

    with Image.open(CHECKPOINTS / MODEL / f"{picture}.png") as opened:
        image = opened.convert("RGB")
    side = _network()[0].config.patch
    return Cut(to_pixels(image), tuple(parts.patches(image, side, ENLARGED)))


@lru_cache(maxsize=16)
def _run(picture: str, shuffle: "Shuffle") -> "ViTOutput":
    from models.lessons.shuffled import run_shuffled

    cut = _cut(picture)
    order = parts.shuffled(len(cut.patches))
    return run_shuffled(_network()[0], cut.pixels, shuffle, order)


@lru_cache(maxsize=48)
def _block(picture: str, shuffle: "Shuffle", layer: int) -> dict[str, Any]:
    """The norm of every token after each step of a block, the class token first."""
    return parts.norms(_network()[0], _run(picture, shuffle), layer)


def _probabilities(out: "ViTOutput") -> list[Any]:
    """The probabilities of each question's classes."""
    _, card = _network()
    if out.logits is None:
        raise ValueError("expected a network with a head")
    sizes = [len(question.classes) for question in card.questions]
    return [part.softmax(-1) for part in out.logits[0].split(sizes)]


def _shares(out: "ViTOutput") -> Any:
    import torch

    return torch.cat(_probabilities(out))


def _answers(out: "ViTOutput") -> list[dict[str, Any]]:
    """The likeliest classes of each question."""
    _, card = _network()
    answers = []
    for question, shares in zip(card.questions, _probabilities(out), strict=True):
        best = shares.topk(BEST)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        named = [{"name": question.classes[at], "share": share} for at, share in pairs]
        answers.append({"title": question.title, "best": named})
    return answers


SIDES, PIXELS = (28, 64, 224), (1, 7, 14, 28)


def pixels() -> Board:
    """Tokens and weights of a head for patches of every size."""
    from models.vit import ViTConfig
    from viz.architecture import short

    rows: dict[str, list[float | str | None]] = {}
    for side in SIDES:
        for patch in PIXELS:
            if side % patch:
                continue
            count = ViTConfig(image=side, patch=patch, head="mean").tokens
            name = f"{side}²: single pixels" if patch == 1 else f"{side}²: {patch} × {patch}"
            memory = short(4 * count * count, "memory")
            rows[name] = [f"{count:,}", f"{count * count:,}", memory]
    cols = ["tokens", "weights of one head", "at 4 bytes each"]
    return board([table("An image in patches", rows, cols)])


@lru_cache(maxsize=1)
def _sizes() -> Board:
    """The shape after each of the six steps, for 224 × 224 pixels in patches of 14."""
    import torch

    from models.lessons.vit_steps import vit_steps
    from models.vit import ViT, ViTConfig

    config = ViTConfig(
        image=224,
        patch=14,
        dim=128,
        heads=8,
        head_dim=64,
        depth=1,  # one block has the shapes of six
        mlp=2048,
        classes=1000,
        qkv_bias=False,
    )
    steps, _ = vit_steps(ViT(config).eval(), torch.zeros(1, 3, 224, 224))
    formulas = {config.order: "row, column, channel"}
    rows: dict[str, list[float | str | None]] = {
        f"{step.number} {step.name}".replace("All 1 blocks", "All 6 blocks"): [
            " × ".join(f"{size:,}" for size in step.out.shape),
            formulas.get(step.formula, step.formula),
        ]
        for step in steps
    }
    return board([table("224 × 224 pixels in patches of 14 × 14", rows, ["shape", "formula"])])


NETWORKS = ("vit-32", "vit-b16", "vit-raw-head")


@lru_cache(maxsize=1)
def _counted() -> Board:
    """The parameters of a network part by part, and of three networks."""
    from models.cost.count import parts, total, walk
    from models.cost.parts import size
    from models.presets import PRESETS

    networks = {name: parts(PRESETS[name].config) for name in NETWORKS}
    counts = {name: int(total(each, "parameters")) for name, each in networks.items()}
    rows: dict[str, list[float | str | None]] = {
        each.title: [f"{each.parameters:,}", str(each.times)]
        for each in networks["vit-32"]
        if each.parameters
    }
    totals = {PRESETS[name].title: [f"{count:,}"] for name, count in counts.items()}
    path_of = ((path, part) for path, _, part in walk(networks["vit-raw-head"]))
    first = next(part for path, part in path_of if path == "head/layer_1")
    reads, gives = size(first.takes), size(first.gives)
    return board(
        [table(PRESETS["vit-32"].title, rows, ["each", "copies"])],
        [table("All together", totals, ["parameters"])],
        **{name.replace("-", "_"): count for name, count in counts.items()},
        reads=reads,
        first=reads * gives,
    )


def train() -> Board:
    """What fine-tuning changes of a pretrained ViT-B/16."""
    from models.vit import ViTConfig

    columns = []
    for side, classes, how in ((224, 21_843, "from random numbers"), (384, 1_000, "further")):
        config = ViTConfig(image=side, patch=16, classes=classes, dim=768, heads=12)
        rows, cols = config.grid
        columns.append(
            [f"{side} × {side}", f"{rows} × {cols}", f"{config.tokens}", f"{classes:,}", how]
        )
    names = ["image", "grid of positions", "tokens", "classes of the head", "what is trained"]
    rows = {name: list(row) for name, row in zip(names, zip(*columns, strict=True), strict=True)}
    return board([table("ViT-B/16 in two steps", rows, ["pretraining", "fine-tuning"])])


def needs() -> Board:
    """The class token of DINOv2 without a quarter of the patches."""
    read = real.needs()
    grid, half = read["weights"], range(0, len(read["weights"]), 2)
    sums = [[sum(sum(row[j : j + 2]) for row in grid[i : i + 2]) for j in half] for i in half]
    relative = [[weight / max(map(max, sums)) for weight in row] for row in sums]
    worst = min(read["random"], key=lambda each: each[1])
    rows = {
        "most weight": read["most"],
        "least weight": read["least"],
        "at random, the lowest": worst,
    }
    return board(
        [
            panel(
                "weights of the class token, 2 × 2 patches a cell",
                relative,
                kind="weights",
                digits=-1,
            )
        ],
        [table(f"{read['quarter']} of {read['count']} patches hidden", rows, ["weight", "cosine"])],
        [
            dots(
                f"cosine; dots: {len(read['random'])} draws at random",
                {name: rows[name][1] for name in ("most weight", "least weight")},
                [similar for _, similar in read["random"]],
            )
        ],
        draws=len(read["random"]),
        most=read["most"][1],
        held=read["most"][0],
        worst=worst[1],
        **about(real.MODEL, photo=real.PHOTO, layer=real.LAYER, head="mean"),
    )


def frames(values: Mapping[str, Any]) -> Board:
    """A spectrogram, some of its tokens, and what one of them attends to."""
    layer, head, token = values["layer"], values["head"], values["position"]
    read, built = sound.listens(layer, head, token), sound.shapes()
    levels, step = sound.spectrogram()
    whole, cuts, (first, after) = sound.pictures(token)
    weights, frame = read["at"], read["frame"]
    far = [each for at, each in enumerate(weights) if abs(at - token) * frame > sound.FAR]
    seconds = levels.shape[1] * step
    begins, ends = first * frame, after * frame
    bands, columns = built["shapes"][0]
    width, count = built["shapes"][-1]
    return board(
        [
            picture(
                f"{bands} bands of frequency, a column each {1000 * step:.0f} ms",
                whole,
                high=seconds,
                span=(begins, ends, f"{begins:.2f} to {ends:.2f} s"),
            )
        ],
        [picture(f"the framed {ends - begins:.2f} s: {after - first} tokens", cuts)],
        [
            curve(
                f"token {token}, layer {layer}, head {head}: weights, 0 to {max(weights):.3f}",
                weights,
                step=frame,
                span=(token * frame, (token + 1) * frame, f"{token}"),
            )
        ],
        bands=bands,
        columns=columns,
        width=width,
        tokens=count,
        heard=len(weights),
        sees=built["sees"],
        seen=built["sees"] * bands,
        seconds=seconds,
        step=1000 * step,
        token=token,
        far=sum(far),
        beyond=sound.FAR,
        **about(
            sound.MODEL, attention="self", tower="encoder", layer=layer, head=head, token=token
        ),
    )


BOARDS = {
    "frames": frames,
    "needs": lambda _: needs(),
    "pixels": lambda _: pixels(),
    "sizes": lambda _: _sizes(),
    "count": lambda _: _counted(),
    "train": lambda _: train(),
}
