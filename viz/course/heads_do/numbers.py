"""The heads of a small network that continues repeats, and a weight that explains nothing."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.course.boards import Board, board, panel
from viz.course.heads_do import real
from viz.course.inputs import InputError
from viz.course.real import about
from viz.course.trained import encoded, traced, trained

if TYPE_CHECKING:
    from models.lessons.head_roles import Ablated

REPEATER, READER = "induction", "grammar-next"
HEADS = 2  # per layer, in both networks
SIGNS = 12  # letters and digits that the picture has room for
WORDS = 7
LENGTH = 20  # signs before they are repeated, in the test of ablation
TEXTS = 64  # in that test
LOW, HIGH = 5, 41  # ids of letters and digits: none is special
ROLES = {"previous": "previous token", "induction": "induction", "first": "first token"}
BEST = 4  # next words
NAMES = ("layer 0, head 0", "layer 0, head 1", "layer 1, head 0", "layer 1, head 1")
PREVIOUS = 1  # the previous-token head of the small network


def numbers(
    network: str,
    text: str,
    words: str,
    query: int,
    head: int,
    later: int,
    spot: int,
    sink: int,
    ablated: str,
    sentence: str,
    reader: int,
    hidden: int,
) -> dict[str, Any]:
    """What four heads do with one text, and what a fifth does with another.

    Args:
        network: "small", or "smollm2".
        text: letters and digits for the small network; spaces are ignored.
        words: a text for SmolLM2.
        query: position that is followed; the last one where there are fewer.
        head: that the first step follows; counted through both layers, as all heads here.
        later: that the steps on induction and ablation follow in the small network.
        spot: that they follow in SmolLM2: index in `real.HEADS`.
        sink: that the step on the sink follows, likewise.
        ablated: index of the ablated head, or "none".
        sentence: words for the second network.
        reader: its head.
        hidden: key that is hidden from it; the last one where there are fewer.

    Raises:
        InputError: for signs or words that the networks do not know, or too many of them.
    """
    follow = {"previous": head, "sink": sink}
    if network == "small":
        followed, tests = later, _tests()
        whole, changed = (_read(text, each) for each in (None, _index(ablated)))
        more: dict[str, Any] = {"names": NAMES, "previous": PREVIOUS}
    else:
        followed, tests = spot, real.ablations()["tests"]
        whole, changed = (real.repeat(words, each) for each in ("none", ablated))
        more = {"names": real.NAMES, "previous": 0, "controls": real.controls()}
    tokens = whole["tokens"]
    at = min(query, len(tokens) - 1)
    row = whole["weights"][followed][at]
    key = row.index(max(row))
    if network == "smollm2":
        layer, chosen = real.HEADS[followed]
        index = _index(ablated)
        edits = "" if index is None else "Ablate({}, {})".format(*real.HEADS[index])
        place = {"input": words, "layer": layer, "head": chosen, "token": at}
        more |= about(real.MODEL, **place, **({"edits": edits} if edits else {}))
    return {
        **whole,
        **more,
        "network": network,
        "followed": {**follow, "induction": followed, "ablate": followed},
        "query": at,
        "asks": tokens[at],
        "key": key,
        "finds": tokens[key],
        "found_weight": row[key],
        "before": tokens[key - 1] if key else None,
        "predicted": whole["best"][at],
        "ablated": ablated,
        "changed": changed,
        "tests": tests,
        "reads": _hidden(sentence, reader, hidden),
    }


def _index(ablated: str) -> int | None:
    return None if ablated == "none" else int(ablated)


@lru_cache(maxsize=64)
def _read(text: str, ablated: int | None) -> dict[str, Any]:
    """Weights of all heads on a text, their means by role, and the next token at each position."""
    from analysis.heads import heads
    from models.edits import Ablate

    _, card = trained(REPEATER)
    signs = "".join(text.lower().split())
    unknown = [sign for sign in signs if sign not in card.tokens[LOW:]]
    if unknown:
        raise InputError(f"expected letters a to z and digits, received {unknown[0]!r}")
    if not 2 <= len(signs) <= SIGNS:
        raise InputError(f"expected 2 to {SIGNS} letters and digits, received {len(signs)}")
    edits = () if ablated is None else (Ablate(*divmod(ablated, HEADS)),)
    trace = traced(REPEATER, signs, edits)
    roles = heads(trace)
    best = trace.output.values[0].softmax(-1).max(-1)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return {
        "tokens": ["begin", *signs],
        "weights": [head.tolist() for site in trace.sites for head in trace.weights(site.layer)],
        "roles": {
            name: [_defined(each) for each in roles[measure].flatten().tolist()]
            for name, measure in ROLES.items()
        },
        "best": [{"token": card.tokens[id], "share": share} for id, share in pairs],
    }


def _defined(value: float) -> float | None:
    return value if value == value else None  # NaN differs from itself


@lru_cache(maxsize=1)
def _tests() -> list[dict[str, Any]]:
    """The network on random texts whose second half repeats the first, whole and ablated."""
    return [
        {
            "head": None if each.layer is None else HEADS * each.layer + (each.head or 0),
            "accuracy": each.accuracy,
            "loss": each.loss,
        }
        for each in ablations(LENGTH)
    ]


@lru_cache(maxsize=32)
def ablations(length: int) -> "tuple[Ablated, ...]":
    """Loss and accuracy on `TEXTS` texts of so many signs and their repeat, head by head."""
    import torch

    from models.lessons import head_roles

    model, card = trained(REPEATER)
    ids = head_roles.repeats(TEXTS, length, LOW, HIGH)
    begin = torch.full((TEXTS, 1), card.tokens.index("[BEGIN]"))
    return head_roles.ablations(model.network, torch.cat([begin, ids], 1), length + 1)


@lru_cache(maxsize=64)
def _hidden(sentence: str, reader: int, hidden: int) -> dict[str, Any]:
    """Weight and effect of each key of the last word, and the next words without one of them."""
    import torch

    from models.edits import Cut
    from models.lessons import head_roles

    model, card = trained(READER)
    words = sentence.lower().split()
    unknown = [word for word in words if word not in card.tokens]
    if unknown:
        raise InputError(f"expected words such as keys, dog, near, the; received {unknown[0]!r}")
    if not 1 <= len(words) <= WORDS:
        raise InputError(f"expected 1 to {WORDS} words, received {len(words)}")
    layer, head = divmod(reader, HEADS)
    ids = torch.tensor(encoded(READER, sentence).ids)
    last = len(ids) - 1
    key = min(hidden, last)
    removed = head_roles.removals(model.network, ids, layer, head)
    before = head_roles.next_probabilities(model.network, ids)
    after = head_roles.next_probabilities(model.network, ids, (Cut(layer, head, last, key),))
    best = before.topk(BEST).indices
    weights, changes = ([each.weight for each in removed], [each.change for each in removed])
    tokens = ["begin", *words]
    return {
        "tokens": tokens,
        "layer": layer,
        "head": head,
        "weights": weights,
        "changes": changes,
        "key": key,
        "hidden": tokens[key],
        "last": tokens[-1],
        "weight": weights[key],
        "change": changes[key],
        "words": [card.tokens[id] for id in best.tolist()],
        "before": before[best].tolist(),
        "after": after[best].tolist(),
    }


KEYS, VALUES = 6, 2  # of the example of equal outputs


@lru_cache(maxsize=1)
def _same() -> Board:
    """Two sets of weights with one output."""
    import torch

    from models.lessons import head_roles

    chance = torch.Generator().manual_seed(0)
    values = torch.randn(KEYS, VALUES, generator=chance)
    weights = torch.randn(KEYS, generator=chance).softmax(-1)
    others = head_roles.other_weights(weights, values)
    columns = zip(weights.tolist(), others.tolist(), strict=True)
    keys = [f"key {n}" for n in range(KEYS)]
    outputs = [(each @ values).tolist() for each in (weights, others)]
    return board(
        [
            panel(
                "weights", [*columns], rows=keys, cols=["one", "other"], kind="weights", digits=3
            ),
            panel("values", values.tolist(), kind="signed", digits=3, sign="·"),
        ],
        [panel("outputs", outputs, rows=["one", "other"], kind="signed", digits=6, sign="=")],
        moved=(weights - others).abs().sum().item() / 2,
    )


def drink() -> Board:
    """The probabilities of both names, with a state of the other sentence put in."""
    read = real.drink()
    plain = [read["given"], read["other"]]
    names = ["Mary", "John"]
    first, last = zip(*read["patched"].values(), strict=True)
    layers = [f"layer {layer}" for layer in read["patched"]]
    return board(
        [
            panel(
                "as they are",
                plain,
                rows=["… John gave a drink to", "… Mary gave a drink to"],
                cols=names,
                kind="weights",
            )
        ],
        [
            panel("patched at the second name", first, rows=layers, cols=names, kind="weights"),
            panel("at the last token", last, cols=names, kind="weights"),
        ],
        early=read["patched"]["16"][0][1],
        late=read["patched"]["24"][1][1],
        given=read["given"][0],
        **about(
            real.MODEL,
            input=real.GIVEN,
            layer=24,
            head=4,
            token=13,
            edits=f"Patch(16, 'hidden', 'second', token={real.NAME})",
            second=real.OTHER,
        ),
    )


BOARDS = {"drink": lambda _: drink(), "same": lambda _: _same()}
