"""The exercises on both ends of a network: loss, decoding, patches, and a whole ViT."""

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any

import torch
from einops import rearrange
from torch import Tensor
from torch.nn import functional as F

from models.patches import cut
from models.vit import ViT, ViTConfig
from notebooks.grading.exercise import Exercise, Mistake, random

ROWS, CLASSES = 5, 7
PATCH, CHANNELS = 2, 3
END = 3  # the end symbol of the tokens below
CONFIG = ViTConfig(
    image=6, patch=2, classes=7, dim=10, depth=2, heads=2, mlp=11, qkv_bias=False, out_bias=False
)


def cross_entropy(
    logits: Tensor,
    targets: Tensor,
    smoothing: float,
    *,
    smooth: str = "all",
    mean: bool = True,
    sign: float = -1.0,
) -> Tensor:
    """The mean cross entropy with a smoothed target."""
    log = logits.log_softmax(-1)
    count = logits.shape[-1]
    hot = F.one_hot(targets, count)
    spread = {
        "all": (1 - smoothing) * hot + smoothing / count,
        "others": (1 - smoothing) * hot + smoothing / (count - 1) * (1 - hot),
        "sum": hot + smoothing / count,
        "": hot,
    }[smooth]
    losses = sign * (spread * log).sum(-1)
    return losses.mean() if mean else losses.sum()


def top_k_accuracy(
    logits: Tensor,
    targets: Tensor,
    ks: tuple[int, ...],
    *,
    unit: float = 1.0,
    largest: bool = True,
    exact: bool = False,
    share: bool = True,
    first: bool = False,
) -> Tensor:
    """The share of rows whose right class is among the k largest logits, for each k."""
    order = logits.argsort(-1, descending=largest)
    rank = (order == targets[:, None]).int().argmax(-1)
    limits = [1] * len(ks) if first else ks
    hits = [(rank == k - 1) if exact else (rank < k) for k in limits]
    counts = torch.stack([each.sum() for each in hits]).float()
    return unit * counts / (len(targets) if share else 1)


def greedy(
    step: Callable[..., Any],
    first: int,
    end: int,
    limit: int,
    *,
    begin: bool = False,
    ended: bool = True,
    stops: bool = True,
    fresh: bool = False,
    same: bool = False,
    least: bool = False,
) -> Tensor:
    """The likeliest token at every step, up to the end symbol."""
    token, cache, written = first, None, [first] if begin else []
    for _ in range(limit):
        logits, after = step(token, None if fresh else cache)
        cache = after
        best = int(logits.argmin() if least else logits.argmax())
        token = first if same else best
        if best != end or ended:
            written.append(best)
        if best == end and stops:
            break
    return torch.tensor(written)


def patches(images: Tensor, size: int, *, order: str = "row col p q c") -> Tensor:
    """Square patches, each a row of numbers."""
    if order == "reshaped":
        return images.reshape(len(images), -1, images.shape[1] * size * size)
    inner = order.removeprefix("turned ").removeprefix("row col ")
    grid = "(col row)" if order.startswith("turned") else "(row col)"
    return rearrange(images, f"b c (row p) (col q) -> b {grid} ({inner})", p=size, q=size)


def with_class_token(tokens: Tensor, token: Tensor, *, how: str = "first") -> Tensor:
    """The tokens of every image with the class token before them."""
    row = token.expand(len(tokens), 1, -1)
    if how == "added":
        return tokens + token
    return torch.cat([tokens, row] if how == "last" else [row, tokens], 1)


def vit(
    images: Tensor,
    weights: dict[str, Any],
    patch: int,
    heads: int,
    *,
    place: bool = True,
    norm: str = "pre",
    last: bool = True,
    read: str = "class",
    activation: Callable[[Tensor], Tensor] = F.gelu,
    residual: bool = True,
) -> Tensor:
    """A vision transformer, with a place for each mistake."""
    x = cut(images, patch) @ weights["embed.weight"].T + weights["embed.bias"]
    x = with_class_token(x, weights["class"])
    x = x + weights["positions"] if place else x
    for one in weights["blocks"]:
        x = encoder_block(x, one, heads, norm=norm, activation=activation, residual=residual)
    x = _norm(x, weight=weights["norm.weight"], bias=weights["norm.bias"]) if last else x
    x = x[:, 0] if read == "class" else x.mean(1)
    return x @ weights["head.weight"].T + weights["head.bias"]


def encoder_block(
    x: Tensor,
    block: dict[str, Tensor],
    heads: int,
    *,
    norm: str = "pre",
    activation: Callable[[Tensor], Tensor] = F.gelu,
    residual: bool = True,
) -> Tensor:
    """One block: attention and feed-forward network."""
    parts = (
        partial(_attention, one=block, heads=heads),
        partial(_feed_forward, one=block, activation=activation),
    )
    for name, part in zip(("norm1", "norm2"), parts, strict=True):
        scale = partial(_norm, weight=block[f"{name}.weight"], bias=block[f"{name}.bias"])
        before = x if residual else torch.zeros_like(x)
        x = scale(before + part(x)) if norm == "post" else before + part(scale(x))
    return x


def _norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(x, weight.shape, weight, bias, CONFIG.eps)


def _attention(x: Tensor, one: dict[str, Tensor], heads: int) -> Tensor:
    order = "... token (head dim) -> ... head token dim"
    q, k, v = (rearrange(x @ one[n].T, order, head=heads) for n in ("query", "key", "value"))
    out = (q @ k.mT / sqrt(q.shape[-1])).softmax(-1) @ v
    return rearrange(out, "... head token dim -> ... token (head dim)") @ one["out"].T


def _feed_forward(
    x: Tensor, one: dict[str, Tensor], activation: Callable[[Tensor], Tensor]
) -> Tensor:
    hidden = activation(x @ one["up.weight"].T + one["up.bias"])
    return hidden @ one["down.weight"].T + one["down.bias"]


LOSS = (
    Mistake("not smoothed", {"smooth": ""}, "The target is not smoothed: `smoothing` is not used."),
    Mistake(
        "spread over the others",
        {"smooth": "others"},
        "The smoothing is spread over the wrong classes alone: every class gets smoothing / n,"
        " the right one too.",
    ),
    Mistake(
        "more than 1",
        {"smooth": "sum"},
        "The target sums to more than 1: the right class keeps 1 − smoothing.",
    ),
    Mistake("summed", {"mean": False}, "The losses are added: take their mean."),
    Mistake("sign", {"sign": 1.0}, "The sign is missing: minus the logarithm."),
)
TOP_K = (
    Mistake("per cent", {"unit": 100.0}, "These are per cent: return a share from 0 to 1."),
    Mistake("smallest", {"largest": False}, "The k *smallest* logits are taken: take the largest."),
    Mistake(
        "the k-th alone",
        {"exact": True},
        "Only the k-th class counts: the right one may be anywhere among the first k.",
    ),
    Mistake("a count", {"share": False}, "That is a count: divide by the number of rows."),
    Mistake(
        "top 1 for all", {"first": True}, "Every entry is the top-1 accuracy: use each k of `ks`."
    ),
)
GREEDY = (
    Mistake("with the first", {"begin": True}, "The first token was given: return the new ones."),
    Mistake("without the end", {"ended": False}, "The end symbol is missing: it is written too."),
    Mistake("never stops", {"stops": False}, "It goes on after the end symbol: stop there."),
    Mistake(
        "no cache",
        {"fresh": True},
        "The cache is not passed on: each step gets what the last one returned.",
    ),
    Mistake(
        "the same token",
        {"same": True},
        "Every step reads the first token: it reads the one that was written last.",
    ),
    Mistake("least likely", {"least": True}, "The least likely token is taken: argmax."),
)
PATCHES = (
    Mistake(
        "channels first",
        {"order": "row col c p q"},
        "The channels come first within a patch: here all colours of a pixel stand together.",
    ),
    Mistake(
        "pixels in columns",
        {"order": "row col q p c"},
        "The pixels of a patch are read column by column: read them row by row.",
    ),
    Mistake(
        "patches in columns",
        {"order": "turned p q c"},
        "The patches are numbered column by column: row by row.",
    ),
    Mistake(
        "reshaped",
        {"order": "reshaped"},
        "A reshape alone mixes patches: cut rows and columns into (grid, pixel) first, then bring"
        " both grid axes to the front.",
    ),
)
CLASS = (
    Mistake("last", {"how": "last"}, "The class token comes last: it is put first."),
    Mistake("added", {"how": "added"}, "The class token is added to every patch: put it first."),
)
BLOCK = (
    Mistake("post-norm", {"norm": "post"}, "The norm stands after the sum: this ViT is pre-norm."),
    Mistake("ReLU", {"activation": F.relu}, "The activation is a ReLU: here it is GELU."),
    Mistake("no residual", {"residual": False}, "The residual connections are missing."),
)
VIT = (
    Mistake("no positions", {"place": False}, "The positions are not added."),
    Mistake("no last norm", {"last": False}, "The norm after the last block is missing."),
    Mistake("mean", {"read": "mean"}, "The head reads the mean: it reads the class token alone."),
    *BLOCK,
)


def exercises() -> tuple[Exercise, ...]:
    """The exercises of notebooks 6, 7, 8 and 10."""
    return (*_head(), _greedy(), *_images(), *_vit())


def _head() -> tuple[Exercise, ...]:
    logits = 2 * random(ROWS, CLASSES, seed=30)
    targets = torch.tensor([3, 0, 6, 2, 5])
    large = logits.clone()
    large[0, 1] += 200
    ks = (1, 3, 5)
    hits = [
        [int(target in row.topk(k).indices) for row, target in zip(logits, targets, strict=True)]
        for k in ks
    ]
    return (
        Exercise(
            "cross_entropy",
            "06-loss",
            (large, targets, 0.1),
            F.cross_entropy(large, targets, label_smoothing=0.1),
            (),
            cross_entropy,
            LOSS,
            infinite="A probability is 0 in float32, and its logarithm −∞: subtract the logarithm"
            " of the sum of exponentials from the logits instead (after the largest logit).",
        ),
        Exercise(
            "top_k_accuracy",
            "06-loss",
            (logits, targets, ks),
            torch.tensor(hits).float().mean(1),
            ("k number",),
            top_k_accuracy,
            TOP_K,
        ),
    )


def step(token: int, cache: list[int] | None) -> tuple[Tensor, list[int]]:
    """The stand-in for a network: what comes next depends on the token and on the cache."""
    seen = [*(cache or []), token]
    best = {1: 2, 2: 4, 3: 5, 4: 4, 5: 0, 0: 1}[token] if len(seen) < 4 else END
    logits = torch.zeros(6)
    logits[best], logits[(best + 1) % 6] = 1.0, -1.0
    return logits, seen


def _greedy() -> Exercise:
    return Exercise(
        "greedy",
        "07-decoding",
        (step, 1, END, 6),
        torch.tensor([2, 4, 4, END]).float(),
        ("step",),
        greedy,
        GREEDY,
    )


def _images() -> tuple[Exercise, ...]:
    images = random(2, CHANNELS, 4, 6, seed=40)
    rows = [
        [images[n, :, r : r + PATCH, c : c + PATCH].permute(1, 2, 0).flatten() for r, c in _grid()]
        for n in range(2)
    ]
    tokens, token = random(2, 5, 7, seed=41), random(7, seed=42)
    return (
        Exercise(
            "patches",
            "08-patches",
            (images, PATCH),
            torch.stack([torch.stack(each) for each in rows]),
            ("image", "patch", "number"),
            patches,
            PATCHES,
        ),
        Exercise(
            "with_class_token",
            "08-patches",
            (tokens, token),
            torch.stack([torch.cat([token[None], each]) for each in tokens]),
            ("image", "token", "feature"),
            with_class_token,
            CLASS,
            shapes={
                "Sizes of tensors must match": "torch.cat needs one class token per image:"
                " `token.expand(len(tokens), 1, -1)`.",
                "same number of dimensions": "torch.cat needs the batch's axis on both:"
                " `token.expand(len(tokens), 1, -1)`.",
            },
        ),
    )


def _grid() -> list[tuple[int, int]]:
    return [(row, col) for row in range(0, 4, PATCH) for col in range(0, 6, PATCH)]


def _vit() -> tuple[Exercise, ...]:
    network = ViT(CONFIG).eval()
    images = random(2, CHANNELS, CONFIG.image, CONFIG.image, seed=43)  # type: ignore[arg-type]
    with torch.no_grad():
        for number, parameter in enumerate(network.parameters()):
            parameter.copy_(0.5 * random(*parameter.shape, seed=50 + number))
        logits = network(images).logits
        states = random(1, 4, CONFIG.width, seed=44)
        after, _ = network.blocks[0](states)
    weights, notebook = _weights(network), "10-vision-transformer"
    block = (states[0], weights["blocks"][0], CONFIG.heads)
    whole = (images, weights, PATCH, CONFIG.heads)
    axes = ("token", "feature")
    return (
        Exercise("encoder_block", notebook, block, after[0], axes, encoder_block, BLOCK),
        Exercise("vit", notebook, whole, logits, ("image", "class"), vit, VIT),
    )


def _weights(network: ViT) -> dict[str, Any]:
    """The weights under the names of the notebook."""
    all_of = {name: each.detach() for name, each in network.named_parameters()}
    parts = {
        "norm1.weight": "before_attention.weight",
        "norm1.bias": "before_attention.bias",
        "query": "attention.query.weight",
        "key": "attention.key.weight",
        "value": "attention.value.weight",
        "out": "attention.out.weight",
        "norm2.weight": "before_feed_forward.weight",
        "norm2.bias": "before_feed_forward.bias",
        "up.weight": "feed_forward.up.weight",
        "up.bias": "feed_forward.up.bias",
        "down.weight": "feed_forward.down.weight",
        "down.bias": "feed_forward.down.bias",
    }
    return {
        "embed.weight": all_of["patches.project.weight"],
        "embed.bias": all_of["patches.project.bias"],
        "class": all_of["prefix"][0],
        "positions": all_of["positions.table"],
        "blocks": [
            {name: all_of[f"blocks.{n}.{theirs}"] for name, theirs in parts.items()}
            for n in range(CONFIG.depth)
        ],
        "norm.weight": all_of["norm.weight"],
        "norm.bias": all_of["norm.bias"],
        "head.weight": all_of["head.layers.0.weight"],
        "head.bias": all_of["head.layers.0.bias"],
    }
