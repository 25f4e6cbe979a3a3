"""A vision transformer: patches become a sequence, and the class token attends to them.

DINOv2 reads a photo; a small network, trained for the app, answers questions about a picture; and
Whisper reads a recording as a picture over time.
"""

import base64
import io
import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange
from PIL import Image
from torch import Tensor

from models.blocks import StackOutput, run_blocks
from models.catalogue import CHECKPOINTS
from models.edits import Cut
from models.image import to_pixels
from models.inputs.pictures import pixels_of
from models.inputs.sound import extracted
from models.preprocessing import ProcessorSettings
from models.presets import PRESETS
from models.request import Picture, Source, TraceRequest, built, file_of
from models.vit import ViT, pair
from viz.amounts import short
from viz.course import real
from viz.course.boards import Board, bars, board, network, panel, picture, table
from viz.theme import sequential

SMALL = "objects"
BEST = 3  # answers to each question
PHOTOS = Path(__file__).parents[2] / "photos"
SIDE, PATCH, WIDTH, DEPTH = 224, 14, 384, 12  # of DINOv2
EDGE = 256  # of the photo, before its middle is cut out


def numbers(
    network: str,
    photo: str,
    picture: str,
    shuffle: str,
    layer: int,
    head: int,
    position: int,
    small_layer: int,
    small_head: int,
) -> dict[str, Any]:
    """Patches and their positions, the class token's weights, and the answers.

    Args:
        network: "dinov2", which reads the photo, or "objects", which reads the picture.
        photo: name of a photo.
        picture: of a picture.
        shuffle: see `run_shuffled`.
        layer: of DINOv2's weights; likewise `head`.
        position: the patch position whose vector is compared with all others.
        small_layer: of the small network's weights; likewise `small_head`.
    """
    if network == SMALL:
        out, config = _run(SMALL, picture, shuffle), _network(SMALL).config
        attention = _weights(out, small_layer, small_head)
        sequence = _sequence(_example(picture), config.patch, 4, shuffle, attention)
        questions = _answers(out)
        answer = questions[0]["best"][0]
        return {**sequence, "depth": config.depth, "questions": questions, "answer": answer}
    similar = alike(position)["similar"]
    return {
        **_sequence(middle(photo), PATCH, 1, shuffle, attends(photo, shuffle, layer, head)),
        "similar": similar,
        "least": min(similar),
        **moved(photo, shuffle),
        "width": WIDTH,
        "depth": DEPTH,
        **real.about("dinov2", photo=photo, layer=layer, head=head),
    }


def _sequence(
    image: Image.Image, patch: int, enlarged: int, shuffle: str, attention: dict[str, Any]
) -> dict[str, Any]:
    """A picture in patches: as it is read, as a sequence, and the weights where they belong.

    Rows of patches are pictures, those of the sequence as long as those of the picture.
    """
    cols, at = image.width // patch, attention["at"]
    count = cols**2
    there = list(range(count))
    order = there if shuffle == "none" else shuffled(count)
    return {
        "cols": cols,
        "count": count,
        "tokens": count + 1,
        "side": image.width,
        "patch": patch,
        "flat": 3 * patch**2,
        "lines": rows_of(image, patch, enlarged, order),
        "rows": rows_of(image, patch, enlarged, order if shuffle == "patches" else there),
        "order": order,
        "weights": [at[order.index(n)] for n in there] if shuffle == "tokens" else at,
        "own": attention["own"],
        "largest": attention["largest"],
    }


def rows_of(image: Image.Image, patch: int, enlarged: int, order: list[int]) -> list[str]:
    """The patches of a picture in another order, row by row, as data: URLs."""
    cut = "(row high) (col wide) rgb -> (row col) high wide rgb"
    dealt = rearrange(np.asarray(image), cut, high=patch, wide=patch)[order]
    cols = image.width // patch
    joined = rearrange(dealt, "(row col) high wide rgb -> row high (col wide) rgb", col=cols)
    return [_file(Image.fromarray(each), enlarged) for each in joined]


def shuffled(count: int) -> list[int]:
    """At each position, the patch that comes there."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(1)).tolist()


@torch.no_grad()
def run_shuffled(network: Any, pixels: Tensor, how: str) -> StackOutput:
    """A forward pass over tokens, or only their contents, in another order.

    Attention treats its tokens as a set. Tokens that carry their position vector along can be
    shuffled without any effect on the class token; patches dealt to other positions cannot.

    Args:
        network: with a class token and no registers.
        pixels: "batch channel row col".
        how: "tokens" shuffles the patches' tokens after positions were added, "patches" the patches
            before; "none" leaves both.
    """
    side = pair(network.config.patch)[0]
    per_row = pixels.shape[-1] // side
    order = shuffled(per_row**2)
    if how == "patches":
        whole, tiles = "b c (rows high) (cols wide)", "b (rows cols) c high wide"
        flat = rearrange(pixels, f"{whole} -> {tiles}", high=side, wide=side)[:, order]
        pixels = rearrange(flat, f"{tiles} -> {whole}", rows=per_row)
    x = network.embed(pixels)
    if how == "tokens":
        x = torch.cat([x[:, :1], x[:, 1:][:, order]], dim=1)
    states, patterns = run_blocks(network.blocks, x, network.sites)
    hidden = network.norm(states[-1])
    logits = None if network.head is None else network.head(network.pool(hidden))
    return StackOutput(hidden, states, patterns, logits)


@lru_cache(maxsize=16)
def _run(name: str, picture: str, shuffle: str) -> StackOutput:
    if name == SMALL:
        pixels = to_pixels(_example(picture))
    else:
        pixels = pixels_of(real.opened(name), PHOTOS / f"{picture}.jpg")
    return run_shuffled(_network(name), pixels, shuffle)


def _network(name: str) -> Any:
    return real.opened(name).network


def _example_file(picture: str) -> Path:
    """The file of an example picture of the small network."""
    return CHECKPOINTS / SMALL / f"{picture}.png"


def _example(picture: str) -> Image.Image:
    with Image.open(_example_file(picture)) as opened:
        return opened.convert("RGB")


@lru_cache(maxsize=4)
def middle(photo: str) -> Image.Image:
    """A photo as DINOv2 reads it, which needs no weights."""
    with Image.open(PHOTOS / f"{photo}.jpg") as opened:
        whole = opened.convert("RGB")
    size = [EDGE * each // min(whole.size) for each in whole.size]
    scaled = whole.resize((size[0], size[1]), Image.Resampling.BICUBIC)
    left, top = ((each - SIDE) // 2 for each in size)
    return scaled.crop((left, top, left + SIDE, top + SIDE))


def _file(image: Image.Image, enlarged: int) -> str:
    """A picture with enlarged pixels as a data: URL."""
    file = io.BytesIO()
    size = (image.width * enlarged, image.height * enlarged)
    image.resize(size, Image.Resampling.NEAREST).save(file, "WEBP", lossless=True)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"


def _weights(out: StackOutput, layer: int, head: int) -> dict[str, Any]:
    """The class token's weights on itself and at each position of a patch."""
    one = out.patterns[layer].weights(head, [0], item=0)[0]
    return {"at": one[1:].tolist(), "own": one[0], "largest": one[1:].max()}


def _answers(out: StackOutput) -> list[dict[str, Any]]:
    """The likeliest classes of each question."""
    if out.logits is None:
        raise ValueError("expected a network with a head")
    questions = real.card_of(SMALL).questions
    parts = out.logits[0].split([len(each.classes) for each in questions])
    answers = []
    for question, logits in zip(questions, parts, strict=True):
        best = logits.softmax(-1).topk(BEST)
        named = [
            {"name": question.classes[at], "share": share} for share, at in zip(*best, strict=True)
        ]
        answers.append({"title": question.title, "best": named})
    return answers


# ---- what DINOv2 does with a photo


@real.of("dinov2")
def attends(photo: str, shuffle: str, layer: int, head: int) -> dict[str, Any]:
    """The class token's weights in a head, position by position."""
    return _weights(_run("dinov2", photo, shuffle), layer, head)


@real.of("dinov2")
def alike(position: int) -> dict[str, Any]:
    """Cosine similarity of a position's vector with those of all patches."""
    network, side = _network("dinov2"), SIDE // PATCH
    vectors = network.positions.vectors((side, side), WIDTH)[-(side**2) :].detach()
    return {"similar": torch.cosine_similarity(vectors[position][None], vectors)}


@real.of("dinov2")
def moved(photo: str, shuffle: str) -> dict[str, Any]:
    """What a shuffle does to the class token's last vector."""
    plain, now = (_run("dinov2", photo, each).hidden[0, 0] for each in ("none", shuffle))
    cosine = torch.cosine_similarity(plain, now, dim=0)
    return {"changed": (now - plain).abs().max(), "cosine": cosine}


# ---- the class token without a quarter of the patches

PHOTO, LAYER = "flower", 11
DRAWS = 20  # of as many random patches


def needs() -> Board:
    """The class token of DINOv2 without a quarter of the patches."""
    read = without_quarters()
    sums = 4 * F.avg_pool2d(torch.tensor(read["weights"])[None], 2)[0]
    draws = sorted(similar for _, similar in read["random"])
    worst = min(read["random"], key=lambda each: each[1])
    kept = {"most weight": read["most"], "least weight": read["least"]}
    hidden = f"{read['quarter']} of {read['count']} patches hidden"
    title = "weights of the class token, 2 × 2 patches a cell"
    lowest = torch.tensor(draws).view(2, -1)
    return board(
        [panel(title, sums / sums.max(), kind="weights", digits=-1)],
        [table(hidden, {**kept, "at random, the lowest": worst}, ["weight", "cosine"])],
        [panel(f"cosine: {DRAWS} draws at random", lowest, kind="weights", digits=3)],
        draws=DRAWS,
        most=read["most"][1],
        held=read["most"][0],
        worst=worst[1],
        **real.about("dinov2", photo=PHOTO, layer=LAYER, head="mean"),
    )


@real.of("dinov2")
def without_quarters() -> dict[str, Any]:
    """The class token's weights on the patches, and its last vector without a quarter of them."""
    photo = PHOTOS / f"{PHOTO}.jpg"
    plain = real.traced("dinov2", photo)
    weights = plain.weights(LAYER)[:, 0, 1:].mean(0)
    count, vector = len(weights), plain.output.values[0, 0]
    quarter, order = count // 4, weights.argsort(descending=True)
    dice = torch.Generator().manual_seed(0)

    def without(patches: Tensor) -> list[Tensor]:
        edit = Cut(None, None, 0, tuple((patches + 1).tolist()))
        changed = real.traced("dinov2", photo, edit).output.values[0, 0]
        return [weights[patches].sum(), torch.cosine_similarity(vector, changed, dim=0)]

    return {
        "weights": weights.reshape(round(count**0.5), -1),
        "count": count,
        "quarter": quarter,
        "most": without(order[:quarter]),
        "least": without(order[-quarter:]),
        "random": [without(torch.randperm(count, generator=dice)[:quarter]) for _ in range(DRAWS)],
    }


# ---- a block, and tables of sizes


def block(picture: str, small_layer: int) -> Board:
    """A block of the small network, as it reads a picture."""
    file = file_of(_example_file(picture).read_bytes(), f"{picture}.png")
    request = TraceRequest(Source("catalogue", SMALL), Picture(file))
    return network(request, f"m:blocks.{small_layer}", layer=small_layer)


SIDES, PIXELS = (28, 64, 224), (1, 7, 14, 28)


def pixels() -> Board:
    """Tokens and weights of a head for patches of every size."""
    rows = {}
    for side, patch in ((side, patch) for side in SIDES for patch in PIXELS if side % patch == 0):
        count = (side // patch) ** 2
        name = f"{side}²: single pixels" if patch == 1 else f"{side}²: {patch} × {patch}"
        rows[name] = [f"{count:,}", f"{count * count:,}", short(4 * count**2, "memory")]
    cols = ["tokens", "weights of one head", "at 4 bytes each"]
    return board([table("An image in patches", rows, cols)])


def sizes() -> Board:
    """An untrained network of six blocks, as it reads a photo of 224 × 224 pixels."""
    sizes = {"image": SIDE, "patch": PATCH, "dim": 128, "depth": 6, "heads": 8, "head_dim": 64}
    source = built("vit", {**sizes, "mlp": 2048, "classes": 1000, "qkv_bias": False})
    photo = file_of((PHOTOS / f"{PHOTO}.jpg").read_bytes(), f"{PHOTO}.jpg")
    return network(TraceRequest(source, Picture(photo)), "", "m:patches")


NETWORKS = ("vit-32", "vit-b16", "vit-raw-head")


@cache
def counted() -> Board:
    """The parameters of three networks."""
    configs: dict[str, Any] = {name: PRESETS[name].config for name in NETWORKS}
    with torch.device("meta"):
        networks: dict[str, Any] = {name: ViT(config) for name, config in configs.items()}
    counts = {name: sum(p.numel() for p in net.parameters()) for name, net in networks.items()}
    totals = {PRESETS[name].title: [f"{count:,}"] for name, count in counts.items()}
    gives, reads = next(each for each in networks["vit-raw-head"].head.parameters()).shape
    return board(
        [table("Three vision transformers", totals, ["parameters"])],
        **{name.replace("-", "_"): count for name, count in counts.items()},
        reads=reads,
        first=reads * gives,
    )


def train() -> Board:
    """What fine-tuning changes of a pretrained ViT-B/16."""
    rows = {
        "image": ["224 × 224", "384 × 384"],
        "grid of positions": ["14 × 14", "24 × 24"],
        "tokens": ["197", "577"],
        "classes of the head": ["21,843", "1,000"],
        "what is trained": ["from random numbers", "further"],
    }
    return board([table("ViT-B/16 in two steps", rows, ["pretraining", "fine-tuning"])])


# ---- a recording as a picture over time, which Whisper's encoder cuts into a sequence

STRIDE = 2  # columns from one token to the next
CUT_OUT = 12  # tokens that are enlarged
FAR = 0.5  # seconds
EXTRACTOR = json.dumps({"feature_extractor_type": "WhisperFeatureExtractor"})


def frames(sound_layer: int, sound_head: int, heard: int) -> Board:
    """A spectrogram, some of its tokens, and what one of them attends to."""
    layer, head, position = sound_layer, sound_head, heard
    read = listens(layer, head, position)
    levels, step = spectrogram()
    seconds, weights, frame = levels.shape[1] * step, read["at"], read["frame"]
    far = [each for at, each in enumerate(weights) if abs(at - position) * frame > FAR]
    first = min(max(0, position - CUT_OUT // 2), levels.shape[1] // STRIDE - CUT_OUT)
    begins, ends = first * frame, (first + CUT_OUT) * frame
    columns = range(STRIDE * first, STRIDE * (first + CUT_OUT), STRIDE)
    cuts = [_painted(levels, at, at + STRIDE, 8) for at in columns]
    title = f"{len(levels)} bands of frequency, a column each {1000 * step:.0f} ms"
    framed = (begins, ends, f"{begins:.2f} to {ends:.2f} s")
    heights = f"token {position}, layer {layer}, head {head}: weights, 0 to {max(weights):.3f}"
    names = [f"{frame * at:.2f} s" for at in range(len(weights))]
    place: dict[str, Any] = {"layer": layer, "head": head, "token": position}
    return board(
        [picture(title, [_painted(levels, 0, levels.shape[1], 2)], seconds, framed)],
        [picture(f"the framed {ends - begins:.2f} s: {CUT_OUT} tokens", cuts)],
        [bars(heights, weights, names, (position, position + 1), digits=-1)],
        heard=len(weights),
        seconds=seconds,
        step=1000 * step,
        token=position,
        far=sum(far),
        beyond=FAR,
        **real.about("whisper", attention="self", tower="encoder", **place),
    )


@cache
def spectrogram() -> tuple[np.ndarray, float]:
    """What Whisper reads of the recording "band column", and the seconds of a column.

    The lowest frequency is first. Padding is left out. No weights are needed.
    """
    features: Any = extracted(ProcessorSettings(EXTRACTOR, "whisper"), str(real.RECORDING))
    pixels = features.arguments["input_features"][0].numpy()
    return pixels[:, : features.sound.frames_heard(pixels.shape[1])], features.sound.stride


def _painted(levels: np.ndarray, first: int, after: int, side: int) -> str:
    """Some columns as a data: URL; brighter is louder."""
    low, high = float(levels.min()), float(levels.max())
    shares = np.rint(255 * (levels[::-1, first:after] - low) / (high - low)).astype(np.uint8)
    return _file(Image.fromarray(sequential("dark")[shares]), side)


@real.of("whisper")
def listens(layer: int, head: int, token: int) -> dict[str, Any]:
    """The weights of a token of the encoder on those that were heard."""
    trace = real.traced("whisper", str(real.RECORDING))
    keys = next(each.keys for each in trace.sites if each.tower == "encoder")
    if (sound := trace.sound) is None:
        raise ValueError("expected the trace of a recording")
    heard = sound.frames_heard(keys)
    row = trace.weights(layer, head, kind="self", tower="encoder", rows=range(token, token + 1))[0]
    return {"at": row[:heard], "frame": sound.seconds / keys}


BOARDS = {
    "block": block,
    "frames": frames,
    "needs": needs,
    "pixels": pixels,
    "sizes": sizes,
    "count": counted,
    "train": train,
}
