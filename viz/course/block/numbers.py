"""The residual stream of SmolLM2, untrained stacks, and what a block is made of."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from analysis.attribution import logit_attribution
from models.attention import MultiHeadAttention
from models.blocks import PreNormBlock, standardised
from models.encoder import Encoder, EncoderConfig
from models.request import TraceRequest, built
from models.seeding import seeded
from models.smallest import Smallest, SmallestConfig, unscaled
from viz.course import real
from viz.course.boards import Board, Panel, bars, board, network, panel, signed, table
from viz.course.numbers import CAUSAL

LATE = 20  # the block with which the last third of SmolLM2 begins
DEPTH = 8  # blocks of the untrained stacks
WORDS, WIDTH = ("Thinking", "Machines"), 4  # of the small block
HIDDEN, NARROW, VOCAB = 8, 6, 97  # of it


def numbers(
    text: str, token: int, block: int, x: list[float], gain: float, shift: float
) -> dict[str, Any]:
    """What is in the stream of one token of SmolLM2, and what a block adds; a layer norm in full.

    Args:
        text: that SmolLM2 reads.
        token: whose stream is followed; the last one where there are fewer.
        block: that is opened.
        x: two words, `WORDS` row by row.
        gain: γ of a layer norm of `x`.
        shift: β of it.
    """
    read = stream(text)
    at = min(token, len(read["tokens"]) - 1)
    norms, reads, adds, shares = (read[each][at] for each in ("norms", "reads", "adds", "shares"))
    rows = torch.tensor(x).view(len(WORDS), WIDTH)
    return {
        "tokens": read["tokens"],
        "place": at,
        "token": read["tokens"][at],
        "norms": norms,
        "adds": adds,
        "shares": shares,
        "first": norms[0],
        "last": norms[-1],
        "sink": {"token": read["tokens"][0], "norm": max(read["norms"][0])},
        "guess": read["next"][at],
        "share": read["next_shares"][at],
        "late": sum(shares[1 + 2 * LATE :]),
        "parts": [
            _sum(reads[n], norms[n], norms[n + 1], adds[n]) for n in (2 * block, 2 * block + 1)
        ],
        "normed": _normed(rows, gain, shift),
        **real.about("smollm2", input=text, layer=block, token=at),
    }


# ---- SmolLM2

AFTER = (0, 5, 10, 15, 20, 22, 24, 26, 27, 28, 29, 30)  # blocks whose states the lens reads
COLUMNS = 6  # tokens that the lens has room for
TOKENS = 16
STRONGEST = 6  # parts answer by name


def _sum(read: float, stream: float, total: float, added: float) -> dict[str, float]:
    """Norms of what a part reads, of two vectors and of their sum, which lies between bounds."""
    bounds = {"least": abs(stream - added), "most": stream + added, "share": added / stream}
    return {"read": read, "stream": stream, "added": added, "total": total, **bounds}


def sublayers(block: PreNormBlock, **look: Any) -> Iterator[tuple[Any, Any]]:
    """The norm and the layer of both branches of a block."""
    yield block.before_attention, lambda y: block.attention(y, **look)[0]
    yield block.before_feed_forward, block.feed_forward


@real.of("smollm2")
@torch.no_grad()
def stream(text: str) -> dict[str, Any]:
    """Every token's stream: its norm, and of each sub-layer the norms of what it reads and adds.

    The last stream is the sum of the embedding and of 60 vectors; `shares` are the parts of its
    length that they have: the projections on its direction, divided by its norm.
    """
    network, ids, look = _opened(text)
    passed, read, written = [network.embedding(ids)], [], []
    for block in network.blocks:
        for norm, layer in sublayers(block, **look):
            read.append(norm(passed[-1]))
            written.append(layer(read[-1]))
            passed.append(passed[-1] + written[-1])
    states, reads, adds = map(torch.cat, (passed, read, written))  # "part token dim"
    top = _read_off(network, states[-1]).max(-1)
    parts, end = torch.cat([states[:1], adds]).double(), states[-1].double()
    return {
        "tokens": real.pieces(ids[0]),
        "norms": states.norm(dim=-1).T,
        "reads": reads.norm(dim=-1).T,
        "adds": adds.norm(dim=-1).T,
        "shares": ((parts * end).sum(-1) / end.pow(2).sum(-1)).T,
        "next": real.pieces(top.indices),
        "next_shares": top.values,
    }


@real.of("smollm2")
def lens(text: str) -> dict[str, Any]:
    """What states of the last tokens read as, as if the network ended there."""
    network, ids, _ = _opened(text)
    first = max(0, ids.shape[1] - COLUMNS)
    with torch.no_grad():
        out = network(ids)
    read = torch.stack([_read_off(network, out.states[after][0, first:]) for after in AFTER])
    goal, best = int(out.logits[0, -1].argmax()), read.max(-1)
    return {
        "tokens": real.pieces(ids[0, first:]),
        "words": [*map(real.pieces, best.indices)],
        "shares": best.values,
        "goal": real.piece(goal),
        "goals": read[:, -1, goal],
    }


def early(text: str) -> Board:
    """What states read as, the stronger the more probable, and how probable the prediction is."""
    read = lens(text)
    words, goals = read["words"], read["goals"]
    most = max(4, 56 // (len(read["tokens"]) + 1))  # letters of a cell
    shares = ["< 0.001" if share < 0.0005 else f"{share:.3f}" for share in goals]
    title = "the token read, and what each state reads as after so many blocks"
    values = [[*(cut(word, most) for word in words[n]), share] for n, share in enumerate(shares)]
    shades = [[*row, goal] for row, goal in zip(read["shares"], goals, strict=True)]
    rows = [f"{after} blocks" if after else "none" for after in AFTER]
    cols = [cut(token, most + 2) for token in (*read["tokens"], f"“{read['goal']}”")]
    return board(
        [panel(title, values, rows=rows, cols=cols, shades=shades)],
        goal=read["goal"],
        share=goals[-1],
        before=goals[-2],
        **real.about("smollm2", input=text),
    )


def cut(text: str, most: int) -> str:
    """A text of at most so many letters."""
    return f"{text[: most - 1]}…" if len(text) > most else text


WAYS = {"part": slice(1, None, 2), "path": slice(2, None, 2)}  # rows of the batch in `without`


@real.of("smollm2")
@torch.no_grad()
def without(text: str) -> dict[str, Any]:
    """The likeliest next token's probability after one of 60 sub-layers is changed.

    Either its output is replaced by zeros ("part"), or the residual connection around it is cut
    ("path"): then its output alone goes on. Of all, what is likeliest instead.
    """
    network, ids, look = _opened(text)
    batch = network.embedding(ids)  # the network as it is, then a pair for each sub-layer
    for block in network.blocks:
        for norm, layer in sublayers(block, **look):
            added = layer(norm(batch))
            batch = torch.cat([batch + added, batch[:1], added[:1]])
    each = _read_off(network, batch[:, -1])
    goal, best = int(each[0].argmax()), each.max(-1)
    changed = {
        way: {
            "shares": each[rows, goal],
            "words": real.pieces(best.indices[rows]),
            "best": best.values[rows],
        }
        for way, rows in WAYS.items()
    }
    return {"goal": real.piece(goal), "share": each[0, goal], **changed}


@real.of("smollm2")
def attributed(text: str) -> dict[str, Any]:
    """What each part adds to the logits of the two likeliest tokens, and to their difference.

    Of heads and MLPs the strongest by the difference are named; the rest are summed.
    """
    _opened(text)
    read = real.traced("smollm2", text)
    logits = read.output.values[0, -1]
    ids = logits.topk(2).indices
    first, second = (logit_attribution(read, id) for id in ids.tolist())
    gaps = {name: first[name] - second[name] for name in first}
    parts = [name for name in gaps if name.startswith("layer ")]
    parts.sort(key=lambda name: -abs(gaps[name]))
    strongest, rest = parts[:STRONGEST], parts[STRONGEST:]
    groups = {
        **{name: [name] for name in strongest},
        "other heads": [name for name in rest if "head" in name],
        "other MLPs": [name for name in rest if "MLP" in name],
        "token embedding": [name for name in gaps if name not in parts],
    }
    return {
        "words": real.pieces(ids),
        "logits": logits[ids],
        "names": list(groups),
        "counts": [len(names) for names in groups.values()],
        "parts": [
            [sum(each[name] for name in names) for each in (first, second, gaps)]
            for names in groups.values()
        ],
    }


PARTS = ("attention", "MLP")  # of a block


def ablated(text: str, way: str) -> Board:
    """The prediction without each sub-layer, or with each residual connection cut.

    Args:
        text: that SmolLM2 reads.
        way: what is removed: "part", the output of a sub-layer, or "path", the residual connection
            around it.
    """
    read = without(text)
    shares, words, best = (read[way][each] for each in ("shares", "words", "best"))
    most = min(range(len(shares)), key=shares.__getitem__)  # changes most
    around = "" if way == "part" else "the connection around "
    blocks, rows = [*map(str, range(len(shares) // 2))], []
    for side, part in enumerate(PARTS):
        title = f"“{read['goal']}” without {around}the {part} of one block"
        lit = (most // 2, most // 2 + 1) if most % 2 == side else (0, 0)
        rows.append([bars(title, shares[side::2], blocks, lit, digits=-1)])
    kept = {each: sum(s > read["share"] / 2 for s in read[each]["shares"]) for each in WAYS}
    return board(
        *rows,
        goal=read["goal"],
        share=read["share"],
        name=f"{around}the {PARTS[most % 2]} of block {most // 2}",
        changed=shares[most],
        instead=words[most],
        instead_share=best[most],
        kept=kept["part"],
        cut=kept["path"],
        count=len(shares),
        **real.about("smollm2", input=text),
    )


def attribution(text: str) -> Board:
    """Direct logit attribution of a language model's two likeliest tokens."""
    read = attributed(text)
    rows = {
        f"{count} {name}" if name.startswith("other") else name: part
        for name, count, part in zip(read["names"], read["counts"], read["parts"], strict=True)
    }
    rows["sum"] = [*map(sum, zip(*read["parts"], strict=True))]
    best, second = read["words"]
    title, cols = "What parts of SmolLM2 add to two logits", [f"“{best}”", f"“{second}”"]
    return board(
        [table(title, rows, [*cols, "difference"], kind="signed", digits=2)],
        best=best,
        second=second,
        logit=read["logits"][0],
        gap=read["logits"][0] - read["logits"][1],
        strongest=read["names"][0],
        most=read["parts"][0][2],
        **real.about("smollm2", input=text),
    )


def _opened(text: str) -> tuple[Any, Tensor, dict[str, Any]]:
    """The network, the ids of a text, and the mask and rotary angles of its attention."""
    network: Any = real.opened("smollm2").network
    ids = torch.tensor([real.encoded("smollm2", text, most=TOKENS).ids])
    return network, ids, {"mask": CAUSAL, "angles": network.relation(ids.shape[1]).angles}


@torch.no_grad()
def _read_off(network: Any, states: Tensor) -> Tensor:
    """Probabilities of the next token through the last norm and the table."""
    return network.output(network.norm(states), network.embedding.tokens.weight).softmax(-1)


# ---- untrained stacks

STACK_WIDTH, STACK_TOKENS, SEEDS = 32, 12, 4


@cache
def stacks() -> Board:
    """Sizes of the states of stacks with both kinds of norm, and gradients of the last block."""
    rows, sizes = [], {norm: growth(norm, DEPTH)[0] for norm in ("pre", "post")}
    names = ["input", *map(str, range(1, DEPTH + 1))]
    for norm, each in sizes.items():
        title = f"{norm}-norm: root mean square of the stream after so many blocks"
        rows.append([bars(title, each, names)])
    gradients = {norm: last_gradient(norm, DEPTH) for norm in sizes}
    return board(*rows, first=sizes["pre"][0], last=sizes["pre"][-1], **gradients)


def last_gradient(norm: str, depth: int) -> float:
    """Mean gradient norm of the last block over several seeds."""
    return sum(growth(norm, depth, seed)[1] for seed in range(SEEDS)) / SEEDS


def growth(norm: str, depth: int, seed: int = 0) -> tuple[list[float], float]:
    """Root mean squares of an untrained encoder's states, and its last block's gradient norm.

    With post-norm, states keep a constant size and gradients are largest in the last blocks:
    without warm-up the first training steps are too large for them. With pre-norm, states grow with
    depth and gradients have similar sizes in all blocks (Xiong et al. 2020, section 3). The loss
    is the mean squared error against a random target; the gradient is that of the feed-forward
    weights.
    """
    width = STACK_WIDTH
    config = EncoderConfig(
        vocab=97, dim=width, depth=depth, heads=4, mlp=4 * width, norm=norm, dropout=0, seed=seed
    )
    dice = torch.Generator().manual_seed(seed)
    ids = torch.randint(config.vocab, (4, STACK_TOKENS), generator=dice)
    wanted = torch.randn(4, STACK_TOKENS, width, generator=dice)
    network = Encoder(config)
    weights = network.get_parameter(f"blocks.{depth - 1}.feed_forward.down.weight")
    with torch.enable_grad():
        out = network(ids)
        (gradient,) = torch.autograd.grad((out.hidden - wanted).square().mean(), weights)
    return [x.detach().square().mean().sqrt().item() for x in out.states], gradient.norm().item()


# ---- what is in a block


def _normed(rows: Tensor, gain: float, shift: float) -> dict[str, Any]:
    """Layer norm of two words."""
    normed = standardised(rows)
    out = gain * normed + shift
    means, out_means = (x.mean(-1) for x in (rows, out))
    deviations, out_deviations = (x.std(-1, correction=0) for x in (rows, out))
    before = {"rows": rows, "means": means, "deviations": deviations, "plain": normed}
    after = {"out": out, "out_means": out_means, "out_deviations": out_deviations}
    return {"words": WORDS, "gain": gain, "shift": shift, **before, **after}


def encoder(words: str, order: str) -> Board:
    """An untrained block of the first transformer, as it reads two words."""
    return _block(words, "m:blocks.0", norm=order) | {"order": order}


def feed_forward(words: str, activation: str) -> Board:
    """The feed-forward network of such a block, of width 4 → 6 → 4."""
    card = "m:blocks.0.feed_forward"
    return _block(words, card, f"{card}.up", mlp=NARROW, activation=activation)


def _block(words: str, card: str, opened: str = "", **fields: Any) -> Board:
    """A card of an untrained encoder of one block, and what is open in it."""
    sizes = {"vocab": VOCAB, "dim": WIDTH, "depth": 1, "heads": 1, "mlp": HIDDEN, "seed": 1}
    source = built("encoder", {**sizes, "activation": "relu", **fields})
    return network(TraceRequest(source, words), card, opened)


OTHER = (1.0, 3.0, 0.0, -2.0)  # a third word beside the two of the norm


def batch(x: list[float]) -> Board:
    """LayerNorm and BatchNorm of three words."""
    rows = torch.tensor([*x, *OTHER]).view(3, WIDTH)
    layer, columns = standardised(rows), batch_normed(rows)
    return board(
        [signed("x", rows, rows=(*WORDS, "today"))],
        [signed("LayerNorm: by rows", layer), signed("BatchNorm: by columns", columns)],
    )


def batch_normed(x: Tensor) -> Tensor:
    """Every column normalised to mean 0 and standard deviation 1 by the statistics of the batch.

    LayerNorm normalises each token over its features, BatchNorm each feature over all tokens of the
    batch (Ba, Kiros and Hinton 2016; Ioffe and Szegedy 2015, algorithm 1).
    """
    return standardised(x.T).T


@torch.no_grad()
def smallest() -> Board:
    """The smallest transformer on two words, number by number."""
    words, attention, network = worked_example()
    values, pattern = attention(words)
    out, attended = network(words), network.attention(words)[0]
    names = ("word 0", "word 1")
    weights = panel("weights, no scale", pattern.weights(0, item=0), kind="weights", digits=4)

    def exact(title: str, x: Tensor, **look: Any) -> Panel:
        return signed(title, x[0], digits=4, **look)

    return board(
        [exact("x", words, rows=names), weights, exact("attention", values, sign="→")],
        [
            exact("its own attention", attended, rows=names),
            exact("x + attention", words + attended, sign="→"),
        ],
        [
            exact("norm", out.hidden, rows=names, sign="→"),
            exact("prediction", out.logits, sign="→"),
        ],
    )


def worked_example() -> tuple[Tensor, MultiHeadAttention, Smallest]:
    """Two words and untrained weights that a course has printed: seed 2.

    In the order they were drawn: a value matrix of another example, the words, then the weights of
    an attention and of a transformer, keys before queries.
    """
    with seeded(0):
        attention = MultiHeadAttention(unscaled(3))
    transformer = Smallest(SmallestConfig(dim=3))
    with seeded(2):
        torch.rand(1, 2, 3)
        words = torch.rand(1, 2, 3)
        for layer in (attention, transformer.attention):
            for linear in (layer.key, layer.query, layer.value):
                linear.reset_parameters()
        transformer.out.reset_parameters()
    return words, attention.eval(), transformer.eval()


RATE = 0.25  # of dropped numbers and branches on the board


def training(x: list[float]) -> Board:
    """A branch of a block without and with dropout, and with its whole branch dropped."""
    texts = ("text 0", "text 1")
    with seeded(2):
        branch = torch.randn(2, WIDTH)
        dropped = F.dropout(branch, RATE)
    kept = torch.tensor([[1 / (1 - RATE)], [0.0]])  # of two texts, one keeps its branch
    bounds = {
        f"{gives} × {reads}": [f"±{(6 / (reads + gives)) ** 0.5:.4f}"]
        for gives, reads in ((WIDTH, WIDTH), (512, 512), (2048, 512))
    }
    return board(
        [signed("x", torch.tensor(x).view(2, WIDTH), rows=texts), signed("f(x)", branch)],
        [signed("dropout of f(x)", dropped, rows=texts), signed("DropPath of f(x)", kept * branch)],
        [table("Xavier: a matrix starts within", bounds, ["bounds"])],
        scale=1 / (1 - RATE),
    )


BOARDS = {
    "ablate": ablated,
    "attribution": attribution,
    "batch": batch,
    "encoder": encoder,
    "ffn": feed_forward,
    "lens": early,
    "norm": stacks,
    "smallest": smallest,
    "training": training,
}
