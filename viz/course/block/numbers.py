"""The residual stream of SmolLM2 and of a small network that reverses words, of untrained stacks,
and one small untrained block with all its numbers.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from viz.course.block import real
from viz.course.boards import Board, Panel, board, panel, table
from viz.course.inputs import InputError
from viz.course.real import about
from viz.course.trained import encoded, network

if TYPE_CHECKING:
    from models.blocks import PreNormBlock

NETWORK = "reverse"
LATE = 20  # the block with which the last third of SmolLM2 begins
FEWEST, MOST = 4, 12  # letters that the network was trained on
DEPTH = 8  # blocks of the untrained stacks
SUBLAYERS = ("attention", "feed-forward")
WORDS, WIDTH, HIDDEN = ("Thinking", "Machines"), 4, 8  # of the small block
SEED = 1  # of its weights


def numbers(
    network: str,
    view: str,
    text: str,
    token: int,
    sublayer: int,
    way: str,
    word: str,
    place: int,
    off: list[float],
    norm: str,
    x: list[float],
    gain: float,
    shift: float,
    order: str,
) -> dict[str, Any]:
    """What is in the stream of one token, what each layer adds, and a small block in full.

    Args:
        network: "smollm2"; or "reverse", the small one.
        view: what of SmolLM2: "stream"; "lens", what its states read as; or "without", its
            prediction without parts.
        text: that SmolLM2 reads.
        token: whose stream is followed in it; the last one where there are fewer.
        sublayer: of its 60 that is opened, or removed.
        way: what is removed: "part", the output of that sub-layer, or "path", the residual
            connection around it.
        word: that the small network reverses.
        place: of the letter; the last one where the word is shorter.
        off: for each of the four sub-layers in order, 1 if its output is replaced by zeros.
        norm: of the untrained stack.
        x: the input of the small block, `WORDS` row by row.
        gain: γ of a layer norm of `x`.
        shift: β of it.
        order: "post" or "pre", of the small block.

    Raises:
        InputError: for a text or a word that is too short or too long.
    """
    if network == real.MODEL:
        answer = _language_model(view, text, token, sublayer, way)
    elif FEWEST <= len(word) <= MOST:
        at = min(place, len(word) - 1)
        answer = _stream(word.lower(), at, tuple(bool(each) for each in off))
    else:
        raise InputError(f"expected {FEWEST} to {MOST} letters, received {len(word)}")
    return {
        "network": network,
        **answer,
        "stack": _stack(norm),
        "pre": _stack("pre"),
        "normed": _normed(x, gain, shift),
        "small": _small(x, order),
        "tables": [_depths()],
    }


def _language_model(view: str, text: str, token: int, sublayer: int, way: str) -> dict[str, Any]:
    """The stream of one of a text's tokens, and its prediction, in SmolLM2."""
    if view == "lens":
        return {"lens": _lens(text), **about(real.MODEL, input=text)}
    read = real.stream(text)
    at = min(token, len(read["tokens"]) - 1)
    block = sublayer // 2
    norms, reads, adds, shares = (read[each][at] for each in ("norms", "reads", "adds", "shares"))
    parts = [
        {"read": reads[n], **_sum(norms[n], adds[n], norms[n + 1])}
        for n in (2 * block, 2 * block + 1)
    ]
    answer = {
        "text": text,
        "tokens": read["tokens"],
        "place": at,
        "token": read["tokens"][at],
        "norms": norms,
        "reads": reads,
        "adds": adds,
        "shares": shares,
        "block": block,
        "first": norms[0],
        "last": norms[-1],
        "sink": {"token": read["tokens"][0], "norm": max(read["norms"][0])},
        "guess": read["next"][at],
        "share": read["next_shares"][at],
        "late": sum(shares[1 + 2 * LATE :]),
        "parts": parts,
        "sum": parts[0],
    }
    if view == "without":
        answer["without"] = _without(text, sublayer, way)
    return {**answer, **about(real.MODEL, input=text, layer=block, token=at)}


@lru_cache(maxsize=256)
def _stream(word: str, place: int, off: tuple[bool, ...]) -> dict[str, Any]:
    import torch

    from models.encoder import Encoder
    from models.lessons.block_steps import block_steps

    encoder, tokens = network(NETWORK).network, encoded(NETWORK, word)
    if not isinstance(encoder, Encoder) or encoder.head is None:
        raise TypeError(f"expected an encoder with a head, received {type(encoder).__name__}")
    blocks = cast("list[PreNormBlock]", list(encoder.blocks))
    with torch.no_grad():
        x = encoder.embed(torch.tensor([list(tokens.ids)]))
        norms, reads, adds = [_norm(x, place)], [], []
        for layer, block in enumerate(blocks):
            pair = off[2 * layer : 2 * layer + 2]
            without = [name for name, gone in zip(SUBLAYERS, pair, strict=True) if gone]
            steps = [step.out for step in block_steps(block, x, without=without)]
            _, read, attended, between, again, fed, x = steps
            reads += [_norm(read, place), _norm(again, place)]
            adds += [_norm(attended, place), _norm(fed, place)]
            norms += [_norm(between, place), _norm(x, place)]
        shares = encoder.head(encoder.norm(x))[0].softmax(-1)
    best, guesses = shares.max(-1)
    letters = encoded(NETWORK, word).labels[: len(word)]
    names = _letters()
    written = [names[guess] for guess in guesses.tolist()[: len(word)]]
    wanted = list(reversed(letters))
    return {
        "letters": letters,
        "place": place,
        "letter": letters[place],
        "norms": norms,
        "reads": reads,
        "adds": adds,
        "off": list(off),
        "written": written,
        "shares": best.tolist()[: len(word)],
        "right": [a == b for a, b in zip(written, wanted, strict=True)],
        "correct": sum(a == b for a, b in zip(written, wanted, strict=True)),
        "count": len(letters),
        "wanted": wanted[place],
        "guess": written[place],
        "share": best[place].item(),
        "sum": _sum(norms[0], adds[0], norms[1]),
    }


def _sum(stream: float, added: float, total: float) -> dict[str, float]:
    """Norms of two vectors and of their sum, which lies between two bounds."""
    least, most = abs(stream - added), stream + added
    share = added / stream
    sizes = {"stream": stream, "added": added, "total": total, "share": share}
    return {**sizes, "least": least, "most": most}


def _norm(x: Any, place: int) -> float:
    return x[0, place].norm().item()


@lru_cache(maxsize=1)
def _letters() -> tuple[str, ...]:
    """Names of the network's tokens."""
    from viz.course.trained import trained

    return tuple(trained(NETWORK)[1].tokens)


@lru_cache(maxsize=2)
def _stack(norm: str) -> dict[str, Any]:
    """Sizes of the states of an untrained stack, and the last block's gradient."""
    from models.lessons.depth import growth, last_gradient

    sizes = growth(norm, DEPTH).sizes.tolist()
    return {
        "norm": norm,
        "sizes": sizes,
        "first": sizes[0],
        "last": sizes[-1],
        "gradient": last_gradient(norm, DEPTH),
    }


def _normed(x: list[float], gain: float, shift: float) -> dict[str, Any]:
    """Layer norm of two words."""
    import torch

    from models.blocks import LayerNorm

    rows = torch.tensor(x).view(len(WORDS), WIDTH)
    norm = LayerNorm(WIDTH)
    with torch.no_grad():
        plain = norm(rows)
        norm.weight.fill_(gain)
        norm.bias.fill_(shift)
        out = norm(rows)
    return {
        "words": WORDS,
        "rows": rows.tolist(),
        "means": rows.mean(-1).tolist(),
        "deviations": rows.std(-1, correction=0).tolist(),
        "plain": plain.tolist(),
        "out": out.tolist(),
        "gain": gain,
        "shift": shift,
        "out_means": out.mean(-1).tolist(),
        "out_deviations": out.std(-1, correction=0).tolist(),
    }


def _small(x: list[float], order: str) -> dict[str, Any]:
    """Every step of an untrained block, and its attention weights."""
    import torch

    from models.blocks import PreNormBlock
    from models.lessons.block_steps import block_steps, random_block

    rows = torch.tensor(x).view(1, len(WORDS), WIDTH)
    block = random_block(order, WIDTH, HIDDEN, seed=SEED)
    steps = block_steps(block, rows)
    with torch.no_grad():
        read = block.before_attention(rows) if isinstance(block, PreNormBlock) else rows
        weights = block.attention(read)[1].weights(0, item=0)
    return {
        "order": order,
        "steps": [{"name": step.name, "rows": step.out[0].tolist()} for step in steps],
        "weights": weights.tolist(),
        "other": weights[0, 1].item(),
    }


DEPTHS = (1, 2, 4, 8, 16)  # blocks


@lru_cache(maxsize=1)
def _depths() -> Panel:
    """How large states and gradients are after stacks of every depth."""
    from models.lessons.depth import growth, last_gradient

    rows: dict[str, list[float | str | None]] = {}
    for norm in ("pre", "post"):
        rows[f"{norm}-norm: size of the states"] = [
            growth(norm, depth).sizes[-1].item() for depth in DEPTHS
        ]
        rows[f"{norm}-norm: gradient of the last block"] = [
            last_gradient(norm, depth) for depth in DEPTHS
        ]
    return table("Untrained stacks", rows, [f"{depth} blocks" for depth in DEPTHS])


OTHER = (1.0, 3.0, 0.0, -2.0)  # a third word beside the two of the norm


def batch(values: Mapping[str, Any]) -> Board:
    """LayerNorm and BatchNorm of three words."""
    import torch

    from models.lessons.norms import batch_normed, layer_normed

    x = torch.cat([torch.tensor(values["x"]).view(2, WIDTH), torch.tensor([OTHER])])
    signed: dict[str, Any] = {"kind": "signed", "digits": 2}
    names = (*WORDS, "today")
    return board(
        [panel("x", x.tolist(), rows=names, **signed)],
        [
            panel("LayerNorm: by rows", layer_normed(x).tolist(), **signed),
            panel("BatchNorm: by columns", batch_normed(x).tolist(), **signed),
        ],
    )


NARROW = 6  # hidden width of the feed-forward network


def feed_forward(values: Mapping[str, Any]) -> Board:
    """A feed-forward network of width 4 → 6 → 4, opened: one word, and the same beside another."""
    import torch

    from models.blocks import FeedForward
    from models.seeding import seeded

    with seeded(0):
        layer = FeedForward(WIDTH, NARROW, activation=values["activation"]).eval()
    x = torch.tensor(values["x"]).view(1, 2, WIDTH)
    with torch.no_grad():
        up = layer.up(x)
        active, out = layer.activation(up), layer(x)
        alone = layer(x[:, :1])
    signed: dict[str, Any] = {"kind": "signed", "digits": 2}
    return board(
        [
            panel("x", x[0].tolist(), rows=WORDS, **signed),
            panel("W_{1}^{T}: 4 × 6", layer.up.weight.T.tolist(), sign="·", **signed),
        ],
        [
            panel("x W_{1}^{T} + b_{1}", up[0].tolist(), rows=WORDS, **signed),
            panel("after the activation", active[0].tolist(), sign="→", **signed),
        ],
        [
            panel("W_{2}^{T}: 6 × 4", layer.down.weight.T.tolist(), sign="·", **signed),
            panel("out", out[0].tolist(), rows=WORDS, sign="=", **signed),
        ],
        parameters=sum(each.numel() for each in layer.parameters()),
        apart=(out[:, :1] - alone).abs().max().item(),
    )


@lru_cache(maxsize=1)
def _smallest() -> Board:
    """The smallest transformer on two words, number by number."""
    import torch

    from models import simple
    from models.lessons.followed import follow, follow_smallest

    example = simple.worked_example()
    with torch.no_grad():
        values, pattern = example.attention(example.words)
        steps = follow_smallest(example.transformer, example.words)
    trace = follow(pattern)
    signed: dict[str, Any] = {"kind": "signed", "digits": 4}
    names = ("word 0", "word 1")
    return board(
        [
            panel("x", example.words[0].tolist(), rows=names, **signed),
            panel("weights, no scale", trace.weights.tolist(), kind="weights", digits=4),
            panel("attention", values[0].tolist(), sign="→", **signed),
        ],
        [
            panel("its own attention", steps.attended.tolist(), rows=names, **signed),
            panel("x + attention", steps.added.tolist(), sign="→", **signed),
        ],
        [
            panel("norm", steps.normed.tolist(), rows=names, sign="→", **signed),
            panel("prediction", steps.predictions.tolist(), sign="→", **signed),
        ],
    )


RATE = 0.25  # of dropped numbers and branches on the board


def training(values: Mapping[str, Any]) -> Board:
    """A branch of a block without and with dropout, and with its whole branch dropped."""
    import torch
    import torch.nn.functional as F

    from models.seeding import seeded

    x = torch.tensor(values["x"]).view(2, WIDTH)
    with seeded(2):
        branch = torch.randn(2, WIDTH)
        dropped = F.dropout(branch, RATE)
    kept = torch.tensor([[1 / (1 - RATE)], [0.0]])  # of two texts, one keeps its branch
    signed: dict[str, Any] = {"kind": "signed", "digits": 2}
    bounds = {
        f"{gives} × {reads}": [f"±{(6 / (reads + gives)) ** 0.5:.4f}"]
        for gives, reads in ((WIDTH, WIDTH), (512, 512), (2048, 512))
    }
    return board(
        [
            panel("x", x.tolist(), rows=("text 0", "text 1"), **signed),
            panel("f(x)", branch.tolist(), **signed),
        ],
        [
            panel("dropout of f(x)", dropped.tolist(), rows=("text 0", "text 1"), **signed),
            panel("DropPath of f(x)", (kept * branch).tolist(), **signed),
        ],
        [table("Xavier: a matrix starts within", bounds, ["bounds"])],
        scale=1 / (1 - RATE),
    )


def _lens(text: str) -> dict[str, Any]:
    """States of a text's last tokens as the head layer would read them."""
    read = real.lens(text)
    *_, before, share = read["goals"]
    return {**read, "after": real.AFTER, "share": share, "before": before}


def _without(text: str, sublayer: int, way: str) -> dict[str, Any]:
    """A text's prediction without one of 60 sub-layers, or the connection around it."""
    read = real.without(text)
    changed = read[way]
    name, shares = ("attention", "MLP")[sublayer % 2], changed["shares"]
    return {
        "way": way,
        "sublayer": sublayer,
        "name": f"{name} of block {sublayer // 2}",
        "goal": read["goal"],
        "share": read["share"],
        "shares": shares,
        "changed": shares[sublayer],
        "instead": changed["words"][sublayer],
        "instead_share": changed["best"][sublayer],
        "words": changed["words"],
        "kept": sum(each > read["share"] / 2 for each in read["part"]["shares"]),
        "cut": sum(each > read["share"] / 2 for each in read["path"]["shares"]),
        "count": len(shares),
    }


def attribution(values: Mapping[str, Any]) -> Board:
    """Direct logit attribution of a language model's two likeliest tokens."""
    read = real.attributed(values["text"])
    names = zip(read["names"], read["counts"], strict=True)
    labels = [f"{count} {name}" if name.startswith("other") else name for name, count in names]
    sums = [sum(part[n] for part in read["parts"]) for n in range(3)]
    rows: dict[str, list[float | str | None]] = dict(zip(labels, read["parts"], strict=True))
    best, second = read["words"]
    cols = [f"“{best}”", f"“{second}”", "difference"]
    return board(
        [
            table(
                "What parts of SmolLM2 add to two logits",
                {**rows, "sum": sums},
                cols,
                kind="signed",
                digits=2,
            )
        ],
        best=best,
        second=second,
        logit=read["logits"][0],
        gap=read["logits"][0] - read["logits"][1],
        strongest=read["names"][0],
        most=read["parts"][0][2],
        **about(real.MODEL, input=values["text"]),
    )


BOARDS = {
    "attribution": attribution,
    "batch": batch,
    "ffn": feed_forward,
    "smallest": lambda _: _smallest(),
    "training": training,
}
