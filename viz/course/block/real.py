"""Texts in the 30 blocks of SmolLM2: their streams, what states read as, and shares of logits."""

from typing import TYPE_CHECKING, Any, cast

from viz.course import real
from viz.course.inputs import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    from models.blocks import PreNormBlock
    from models.decoder import Decoder

MODEL = "smollm2"
AFTER = (0, 5, 10, 15, 20, 22, 24, 26, 27, 28, 29, 30)  # blocks whose states the lens reads
COLUMNS = 6  # tokens that the lens has room for
MOST = 16  # tokens
STRONGEST = 6  # parts shown by name


@real.of(MODEL)
def stream(text: str) -> dict[str, Any]:
    """Every token's stream: its norm, and of each sub-layer the norms of what it reads and adds.

    The last stream is the sum of the embedding and of 60 vectors; `shares` are the parts of its
    length that they have: the projections on its direction, divided by its norm.

    Args:
        text: to read.

    Raises:
        InputError: for a text of too many tokens.
    """
    import torch

    network, ids = _opened(text)
    with torch.no_grad():
        x = network.embedding(ids)
        states, reads, parts = [x], [], [x]
        for sublayer in _sublayers(network, ids.shape[1]):
            read, added = sublayer(x)
            x = x + added
            states.append(x)
            reads.append(read)
            parts.append(added)
        best = network.output(network.norm(x), network.embedding.tokens.weight)[0].softmax(-1)
    stacked = torch.cat(parts).double()  # "part token dim"
    end = x[0].double()
    shares = (stacked * end).sum(-1) / end.pow(2).sum(-1)
    top = best.max(-1)
    return {
        "tokens": [_name(id) for id in ids[0].tolist()],
        "norms": _norms(states),
        "reads": _norms(reads),
        "adds": _norms(parts[1:]),
        "shares": shares.T.tolist(),
        "next": [_name(id) for id in top.indices.tolist()],
        "next_shares": top.values.tolist(),
    }


@real.of(MODEL)
def lens(text: str) -> dict[str, Any]:
    """What states read as through the last norm and the table, as if the network ended there.

    Args:
        text: to read; the lens looks at its last tokens.

    Raises:
        InputError: for a text of too many tokens.
    """
    import torch

    network, ids = _opened(text)
    first = max(0, ids.shape[1] - COLUMNS)
    words, shares, goals = [], [], []
    with torch.no_grad():
        out = network(ids)
        goal = int(out.logits[0, -1].argmax())
        for after in AFTER:
            read = network.norm(out.states[after][0, first:])
            each = network.output(read[None], network.embedding.tokens.weight)[0].softmax(-1)
            best = each.max(-1)
            words.append([_name(id) for id in best.indices.tolist()])
            shares.append(best.values.tolist())
            goals.append(each[-1, goal].item())
    return {
        "tokens": [_name(id) for id in ids[0, first:].tolist()],
        "words": words,
        "shares": shares,
        "goal": _name(goal),
        "goals": goals,
    }


@real.of(MODEL)
def without(text: str) -> dict[str, Any]:
    """The likeliest next token's probability after one of 60 sub-layers is changed.

    Either its output is replaced by zeros ("part"), or the residual connection around it is cut
    ("path"): then its output alone goes on. Of all, what is likeliest instead.

    Args:
        text: to go on with.

    Raises:
        InputError: for a text of too many tokens.
    """
    import torch

    network, ids = _opened(text)
    with torch.no_grad():
        batch = network.embedding(ids)  # the network as it is, then a pair for each sub-layer
        for sublayer in _sublayers(network, ids.shape[1]):
            added = sublayer(batch)[1]
            batch = torch.cat([batch + added, batch[:1], added[:1]])
        last = network.norm(batch[:, -1:])
        each = network.output(last, network.embedding.tokens.weight)[:, 0].softmax(-1)
    goal = int(each[0].argmax())
    best = each.max(-1)
    ways = {"part": slice(1, None, 2), "path": slice(2, None, 2)}
    return {
        "goal": _name(goal),
        "share": each[0, goal].item(),
        **{
            way: {
                "shares": each[rows, goal].tolist(),
                "words": [_name(id) for id in best.indices[rows].tolist()],
                "best": best.values[rows].tolist(),
            }
            for way, rows in ways.items()
        },
    }


def _opened(text: str) -> "tuple[Decoder, Tensor]":
    """The network in our own code, and the ids of a text."""
    import torch

    model: Any = real.opened(MODEL, "own")
    ids = torch.tensor([model.tokenizer.encode(text).ids])
    if not 1 <= ids.shape[1] <= MOST:
        raise InputError(f"expected 1 to {MOST} tokens, received {ids.shape[1]}")
    return model.network, ids


def _sublayers(
    network: "Decoder", count: int
) -> "Iterator[Callable[[Tensor], tuple[Tensor, Tensor]]]":
    """For each attention and MLP, what it reads of the streams of so many tokens, and adds."""
    from models.attention import Mask

    angles = network.relation(count).angles
    for block in cast("list[PreNormBlock]", list(network.blocks)):

        def attention(x: "Tensor", block: "PreNormBlock" = block) -> "tuple[Tensor, Tensor]":
            read = block.before_attention(x)
            return read, block.attention(read, mask=Mask(causal=True), angles=angles)[0]

        def mlp(x: "Tensor", block: "PreNormBlock" = block) -> "tuple[Tensor, Tensor]":
            read = block.before_feed_forward(x)
            return read, block.feed_forward(read)

        yield attention
        yield mlp


def _norms(states: "list[Tensor]") -> list[list[float]]:
    """Of each token's vectors, token by token."""
    import torch

    return torch.cat(states).norm(dim=-1).T.tolist()


def _name(id: int) -> str:
    tokenizer: Any = real.opened(MODEL, "own").tokenizer
    return real.word(tokenizer.text([id]))


@real.of(MODEL)
def attributed(text: str) -> dict[str, Any]:
    """What each part adds to the logits of the two likeliest tokens, and to their difference.

    Of heads and MLPs the strongest by the difference are named; the rest are summed.

    Args:
        text: to go on with.

    Raises:
        InputError: for a text of too many tokens.
    """
    from analysis.attribution import logit_attribution
    from models.run import trace

    _opened(text)
    read = trace(real.opened(MODEL, "own"), text)
    logits = read.output.values[0, -1]
    ids = logits.topk(2).indices.tolist()
    first, second = (logit_attribution(read, each) for each in ids)
    gaps = {name: first[name] - second[name] for name in first}
    parts = {name: gap for name, gap in gaps.items() if name.startswith("layer ")}
    strongest = sorted(parts, key=lambda name: -abs(parts[name]))[:STRONGEST]
    rest = [name for name in parts if name not in strongest]
    groups = {
        **{name: [name] for name in strongest},
        "other heads": [name for name in rest if "head" in name],
        "other MLPs": [name for name in rest if "MLP" in name],
        "token embedding": [name for name in gaps if name not in parts],
    }
    return {
        "words": [_name(each) for each in ids],
        "logits": logits[ids].tolist(),
        "names": list(groups),
        "counts": [len(names) for names in groups.values()],
        "parts": [
            [sum(each[name] for name in names) for each in (first, second, gaps)]
            for names in groups.values()
        ],
    }
