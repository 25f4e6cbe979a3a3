"""Four heads of SmolLM2 that read a repeat, and weights that explain nothing.

Ablation: the values of one head are replaced by zeros, and the loss is measured again. A pattern
may suggest a role; only an intervention shows whether the output depends on it.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor

from analysis.attribution import logit_attribution
from analysis.effects import Loss, Probability
from analysis.heads import heads
from models.edits import Ablate, Cut, Patch
from models.run import trace
from models.trace import Trace
from viz.course import real
from viz.course.boards import Board, board, panel, signed, table

HEADS = ((16, 0), (18, 6), (16, 1), (18, 8))  # previous token, induction, control, sink
ROLES = {"previous": "previous token", "induction": "induction", "first": "first token"}
TOKENS = 12  # that the picture has room for
LOW, HIGH, LENGTH = 1000, 40_000, 64  # common pieces, and how many are repeated


def numbers(words: str, query: int, head: int, ablated: str) -> dict[str, Any]:
    """What four heads do with a text; `head` and `ablated`, which may be "none", are of `HEADS`."""
    whole = repeat(words, "none")
    tokens, (layer, index) = whole["tokens"], HEADS[head]
    at = min(query, len(tokens) - 1)
    row = whole["weights"][head][at]
    key = max(range(len(row)), key=row.__getitem__)
    edits = {} if ablated == "none" else {"edits": "Ablate({}, {})".format(*HEADS[int(ablated)])}
    return {
        **whole,
        **losses(),
        "changed": repeat(words, ablated) if edits else None,
        "names": [f"layer {layer}, head {head}" for layer, head in HEADS],
        "query": at,
        "asks": tokens[at],
        "finds": tokens[key],
        "found_weight": row[key],
        "before": tokens[key - 1] if key else None,
        "predicted": whole["best"][at],
        **real.about("smollm2", input=words, layer=layer, head=index, token=at, **edits),
    }


@real.of("smollm2")
def repeat(text: str, ablated: str) -> dict[str, Any]:
    """The weights of the heads, their means by role, and the likeliest next token everywhere."""
    real.encoded("smollm2", text, 2, TOKENS)
    edits = [] if ablated == "none" else [Ablate(*HEADS[int(ablated)])]
    read = real.traced("smollm2", text, *edits)
    numbers = heads(read)
    roles = {role: [float(numbers[of][place]) for place in HEADS] for role, of in ROLES.items()}
    shares = read.output.values[0].softmax(-1)
    return {
        "tokens": [*map(real.word, read.labels)],
        "weights": [read.weights(layer, head) for layer, head in HEADS],
        "roles": {role: [n if n == n else None for n in row] for role, row in roles.items()},
        "best": [real.likeliest(row, 1, real.piece)[0] for row in shares],
    }


def repeats(length: int, low: int, high: int) -> Tensor:
    """A row of random ids from low to high, high excluded, that comes twice.

    The second half can be predicted from the first, all but its first token.
    """
    chance = torch.Generator().manual_seed(0)
    return (low + torch.randperm(high - low, generator=chance)[:length]).repeat(1, 2)


@real.of("smollm2")
def losses() -> dict[str, Any]:
    """Loss and accuracy on random tokens that come twice, with all heads and without each.

    The `controls` are the losses without each of the other heads of the first two heads' layers.
    """
    ids = repeats(LENGTH, LOW, HIGH)
    loss, right = Loss(tuple(ids[0].tolist()), first=LENGTH + 1), ids[0, LENGTH + 1 :]
    tests = []
    for place in (None, *HEADS):
        read = real.traced("smollm2", ids, *([Ablate(*place)] if place else []))
        accuracy = (read.output.values[0, LENGTH:-1].argmax(-1) == right).float().mean()
        tests.append({"loss": loss(read), "accuracy": accuracy})
    circuit = HEADS[:2]
    others = {(layer, head) for layer, _ in circuit for head in range(9)}.difference(circuit)
    controls = sorted(loss(real.traced("smollm2", ids, Ablate(*place))) for place in others)
    middle = controls[len(controls) // 2]
    spread = {"count": len(controls), "median": middle, "most": controls[-1]}
    return {"tests": tests, "controls": spread}


# ---- a key that is hidden

READER = "grammar-next"
LONGEST = 7  # words


def hide(sentence: str, reader: str) -> Board:
    """The weight of each key of the last word in a head, and the effect of hiding it.

    Each key is hidden in turn, and the change of the prediction compared with the weight that the
    key had (Jain and Wallace 2019).
    """
    known, words = real.card_of(READER).tokens, sentence.lower().split()
    real.check_known(words, known, "words such as keys, dog, near, the")
    real.check(len(words), 1, LONGEST, "words")
    (layer, head), last = map(int, reader.split(".")), len(words)
    weights = real.traced(READER, sentence).weights(layer, head)[-1]
    before = next_probabilities(sentence)
    without = [next_probabilities(sentence, Cut(layer, head, last, at)) for at in range(last + 1)]
    changes = [total_variation(before, after) for after in without]
    names = [f"{at} {word}" for at, word in enumerate(["begin", *words])]
    most = int(weights.argmax())
    rows = dict(zip(names, zip(weights, changes, strict=True), strict=True))
    title = f"Layer {layer}, head {head}: the keys of “{words[-1]}”, hidden one by one"
    return board(
        [table(title, rows, ["weight", "change when hidden"], kind="weights", digits=3)],
        layer=layer,
        head=head,
        hidden=["begin", *words][most],
        weight=weights[most],
        change=changes[most],
    )


def next_probabilities(sentence: str, *edits: Cut) -> Tensor:
    """Of the token after a text, in the small network."""
    return real.traced(READER, sentence, *edits).output.values[0, -1].softmax(-1)


def total_variation(before: Tensor, after: Tensor) -> float:
    """The distance of two distributions: 0 for none, at most 1."""
    return (after - before).abs().sum().item() / 2


# ---- other weights of the same output

KEYS, VALUES = 6, 2  # of the example


@cache
def same() -> Board:
    """Two sets of weights with one output."""
    chance = torch.Generator().manual_seed(0)
    values = torch.randn(KEYS, VALUES, generator=chance)
    weights = torch.randn(KEYS, generator=chance).softmax(-1)
    others = other_weights(weights, values)
    columns, outputs = torch.stack([weights, others], 1), torch.stack([weights, others]) @ values
    keys, names = [f"key {n}" for n in range(KEYS)], ["one", "other"]
    return board(
        [
            panel("weights", columns, rows=keys, cols=names, kind="weights", digits=3),
            signed("values", values, digits=3, sign="·"),
        ],
        [signed("outputs", outputs, rows=names, digits=6, sign="=")],
        moved=total_variation(weights, others),
    )


def other_weights(weights: Tensor, values: Tensor) -> Tensor:
    """Other weights of the same output: none negative, with the same sum, and w · V unchanged.

    Where there are more keys than value features, w · V = (w + n) · V for every n with n · V = 0
    (Brunner et al. 2020). Goes from the weights in a random direction that changes neither the sum
    nor the output, until a weight is 0.
    """
    fixed = torch.cat([values, torch.ones(len(values), 1)], dim=1).double()
    free = torch.linalg.svd(fixed.T, full_matrices=True).Vh[torch.linalg.matrix_rank(fixed) :]
    chance = torch.Generator().manual_seed(0)
    direction = torch.randn(len(free), generator=chance, dtype=torch.float64) @ free
    shrinking = direction < 0
    length = (weights[shrinking] / -direction[shrinking]).min()
    return (weights + length * direction).clamp(min=0).to(weights)


# ---- a name that is patched

GIVEN = "When Mary and John went to the store, John gave a drink to"
OTHER = "When Mary and John went to the store, Mary gave a drink to"
NAME = 9  # the token in which they differ
MARY = 1  # the place of the name that is given
LAYERS = (0, 4, 8, 12, 16, 20, 24, 28)  # in which states are patched
READERS = ((24, 4), (23, 0), (20, 0), (29, 1))  # the one against her, and three for her


def causes() -> Board:
    """How much heads look at a name, what they add to its logit, and what it is without them."""
    read = switched_off()
    names = [f"layer {layer}, head {head}" for layer, head in READERS]
    looks, parts, without = (
        [each[name] for each in read["heads"]] for name in ("look", "part", "without")
    )
    layer, head = READERS[0]
    (against, mean), (name, _), (again, _), (last, _) = without
    look = panel("looks at", [[n] for n in looks], rows=names, cols=["Mary"], kind="weights")
    part = signed("its part", [[n] for n in parts], cols=["of her logit"])
    off = panel("Mary without it", without, cols=["off", "average"], kind="weights")
    return board(
        [look, part, off],
        given=read["given"],
        look=looks[0],
        part=parts[0],
        zero=against,
        mean=mean,
        name=name,
        again=again,
        last=last,
        **real.about("smollm2", input=GIVEN, layer=layer, head=head, token=13),
    )


@real.of("smollm2")
def switched_off() -> dict[str, Any]:
    """Of some heads at the last token: the weight on a name, the part of its logit, and the name's
    probability without them, their values replaced by zeros or by their mean over the text."""
    clean = real.traced("smollm2", GIVEN)
    mary = Probability(real.encoded("smollm2", " Mary").ids[0])
    parts = logit_attribution(clean, mary.id)

    def without(*place: Any) -> float:
        return mary(real.traced("smollm2", GIVEN, Ablate(*place)))

    heads = [
        {
            "look": clean.weights(layer, head)[-1, MARY],
            "part": parts[f"layer {layer}, head {head}"],
            "without": [without(layer, head, how) for how in ("zero", "mean")],
        }
        for layer, head in READERS
    ]
    return {"given": mary(clean), "heads": heads}


def drink() -> Board:
    """The probabilities of both names, with a state of the other sentence put in."""
    read = patched()
    names, texts = ["Mary", "John"], ["… John gave a drink to", "… Mary gave a drink to"]
    first, last = zip(*read["patched"].values(), strict=True)
    layers = [f"layer {layer}" for layer in read["patched"]]
    plain = [read["given"], read["other"]]
    edit = f"Patch(16, 'hidden', 'second', token={NAME})"
    place: dict[str, Any] = {"layer": 23, "head": 0, "token": 13, "edits": edit, "second": OTHER}
    return board(
        [panel("as they are", plain, rows=texts, cols=names, kind="weights")],
        [
            panel("patched at the second name", first, rows=layers, cols=names, kind="weights"),
            panel("at the last token", last, cols=names, kind="weights"),
        ],
        early=read["patched"]["16"][0][1],
        late=read["patched"]["24"][1][1],
        given=read["given"][0],
        **real.about("smollm2", input=GIVEN, **place),
    )


@real.of("smollm2")
def patched() -> dict[str, Any]:
    """Probabilities of both names where a state of the other sentence is put in, layer by layer."""
    names = [real.encoded("smollm2", name).ids[0] for name in (" Mary", " John")]
    other = trace(real.opened("smollm2"), OTHER, hidden=True)

    def shares(read: Trace) -> list[float]:
        return [Probability(id)(read) for id in names]

    def patches(layer: int) -> list[list[float]]:
        places = (NAME, len(other.labels) - 1)
        edits = [Patch(layer, "hidden", other, token=token) for token in places]
        return [shares(real.traced("smollm2", GIVEN, edit)) for edit in edits]

    rows = {str(layer): patches(layer) for layer in LAYERS}
    return {"given": shares(real.traced("smollm2", GIVEN)), "other": shares(other), "patched": rows}


BOARDS = {"causes": causes, "drink": drink, "hide": hide, "same": same}
