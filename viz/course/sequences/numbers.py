"""The way from the first token to the last in three kinds of layer, its cost and its effect.

A recurrence h ← act(g · R h + U x), with R orthogonal, multiplies what it knows of a token by g · R
at every later token. Without an activation the influence of a token on the last state shrinks or
grows by exactly g a step: g to the power of the distance. Attention reaches every token in one
step, whatever its distance.

Source: Bengio et al. 1994 and Pascanu et al. 2013 for the recurrence.
"""

from collections.abc import Callable
from functools import lru_cache
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.seeding import seeded
from viz.course import real
from viz.course.boards import Board, bars, board, table

DIM = 16  # of the untrained layers
KINDS = ("attention", "recurrence", "convolution")
TEXT = "The animal didn't cross the street because it was too {ending}."
LAYER, HEAD, WORD = 3, 1, "it"  # of MiniLM, and the word that it is asked about


def numbers(ending: str, tokens: int, kernel: str, gain: float, activation: str) -> dict[str, Any]:
    """What a word looks at; hops through a text of so many tokens."""
    size = int(kernel)
    paths = {kind: hops(kind, tokens, size) for kind in KINDS}
    layers, firsts = len(paths["convolution"]) - 1, recurrence(tokens, gain, activation)[:, 0]
    return {
        "reads": reads(ending),
        "kernel": size,
        "hops": paths,
        "count": {kind: len(path) - 1 for kind, path in paths.items()},
        # what the last output depends on, in the input of each layer
        "seen": [
            [tokens - 1 - at <= size // 2 * (layers - layer) for at in range(tokens)]
            for layer in range(layers)
        ],
        "kept": firsts / firsts[0],
    }


@lru_cache(maxsize=2)
def reads(ending: str) -> dict[str, Any]:
    """The weights that a word of the sentence gives to all of it, in a head of MiniLM."""
    trace = real.traced("minilm", TEXT.format(ending=ending))
    at = trace.labels.index(WORD)
    words = [*map(real.word, trace.labels[1:-1])]  # without [CLS] and [SEP]
    weights = trace.weights(LAYER, HEAD)[at, 1:-1].tolist()
    shares = {name: weights[words.index(name)] for name in ("animal", "street")}
    return {"words": words, "weights": weights, "at": at - 1, **shares}


def costs(tokens: int, kernel: str, width: int) -> Board:
    """Multiplications of one layer of each kind, its steps one after the other, and its hops.

    Source: Vaswani et al. 2017, section 4 and table 1.
    """
    size = int(kernel)
    works = {
        "recurrence": ("n · d^{2}", tokens * width**2),
        "convolution": ("k · n · d^{2}", size * tokens * width**2),
        "attention": ("n^{2} · d", tokens**2 * width),
        "projections": ("4 · n · d^{2}", 4 * tokens * width**2),
    }
    rows = {}
    for kind, (formula, work) in works.items():
        path = str(len(hops(kind, tokens, size)) - 1) if kind in KINDS else ""
        rows[kind] = [formula, f"{work:,}", str(tokens if kind == "recurrence" else 1), path]
    title = f"One layer: n = {tokens}, d = {width}, k = {size}"
    cols = ["operations", "up to a constant factor", "in sequence", "path"]
    return board([table(title, rows, cols)], **{kind: work for kind, (_, work) in works.items()})


def hops(kind: str, tokens: int, kernel: int) -> list[int]:
    """The positions that the first token's information passes on its way to the last.

    A hop is a step of a recurrence, or a layer of attention or convolution.
    """
    stride = {"attention": max(1, tokens - 1), "recurrence": 1, "convolution": kernel // 2}[kind]
    return [*range(0, tokens - 1, stride), tokens - 1]


def influence(tokens: int, gain: float, activation: str) -> Board:
    """How strongly each token influences the last output, in a recurrence and in attention."""
    sizes = {
        "recurrence": recurrence(tokens, gain, activation)[-1],
        "attention": attention(tokens)[-1],
    }
    ratios = {kind: each[0] / each[-1] for kind, each in sizes.items()}
    title, names = "influence of each token on the last output", [*map(str, range(tokens))]
    rows = (
        [bars(f"{kind}: {title}", each.tolist(), names, digits=-1)] for kind, each in sizes.items()
    )
    return board(*rows, **ratios)


@lru_cache(maxsize=64)
def recurrence(tokens: int, gain: float, activation: str) -> Tensor:
    """Influence "state token" of each token on each state of an untrained recurrence."""
    with seeded(0):
        turn = torch.linalg.qr(torch.randn(DIM, DIM)).Q
        inward = torch.randn(DIM, DIM) / sqrt(DIM)
        x = torch.randn(tokens, DIM)
    # in float64: squares of what is left after 64 tokens are below float32's smallest number
    turn, inward = turn.double(), inward.double()

    def states(x: Tensor) -> Tensor:
        after = [x.new_zeros(DIM)]
        for token in x:
            state = gain * turn @ after[-1] + inward @ token
            after.append(state.tanh() if activation == "tanh" else state)
        return torch.stack(after[1:])

    return influences(states, x.double()).float()


@lru_cache(maxsize=64)
def attention(tokens: int) -> Tensor:
    """Influence "output token" of each token in one untrained attention layer."""
    with seeded(0):
        layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=1)).eval()
        x = torch.randn(tokens, DIM)
    return influences(lambda x: layer(x[None])[0][0], x)


def influences(network: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The Frobenius norm "output token" of each output's Jacobian with respect to each token."""
    jacobian = torch.autograd.functional.jacobian(network, x, vectorize=True)
    return torch.as_tensor(jacobian).square().sum((1, 3)).sqrt()


NOUNS = (
    "The keys near the cabinet",
    "The keys near the old cabinet in the hall",
    "The keys near the old cabinet in the hall of the museum",
    "The key near the old cabinets in the halls of the museums",
)
NOUN = 1  # place of the noun: after the article
LONGEST = 24  # tokens


def agree(sentence: str) -> Board:
    """Both verbs after nouns at growing distances, and after the reader's text."""
    *texts, mine = (agreement(text) for text in (*NOUNS, sentence))
    rows = {}
    for begins, each in (*(("", text) for text in texts), ("yours: ", mine)):
        place = f"{each['layer']} · {each['head']}"
        name = f"{begins}{each['noun']}, {each['distance']} back"
        rows[name] = [*each["verbs"], place, each["weight"]]
    title = "The next token, and the head that reads the noun most"
    cols = ["are", "is", "layer · head", "weight"]
    return board(
        [table(title, rows, cols, kind="weights", digits=3)],
        distance=texts[2]["distance"],
        ratio=texts[2]["verbs"][0] / texts[2]["verbs"][1],
        weight=texts[2]["weight"],
        **real.about("smollm2", input=sentence, layer=mine["layer"], head=mine["head"]),
    )


@real.of("smollm2")
def agreement(text: str) -> dict[str, Any]:
    """Probabilities of both verbs after a text, and the head that reads its second token most."""
    tokens, trace = real.encoded("smollm2", text, NOUN + 2, LONGEST), real.traced("smollm2", text)
    shares = trace.output.values[0, -1].softmax(-1)
    rows = torch.stack([trace.weights(site.layer)[:, -1, NOUN] for site in trace.sites])
    layer, head = divmod(int(rows.argmax()), rows.shape[1])
    verbs = [real.encoded("smollm2", verb).ids[-1] for verb in (" are", " is")]
    return {
        "noun": real.word(trace.labels[NOUN]),
        "distance": len(tokens) - NOUN,
        "verbs": shares[verbs],
        "layer": layer,
        "head": head,
        "weight": rows.max(),
    }


BOARDS = {"agree": agree, "cost": costs, "influence": influence}
