"""Four heads of SmolLM2 on a repeat, the loss without each, and a name that is patched."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.course import real
from viz.course.inputs import InputError

if TYPE_CHECKING:
    from analysis.effects import Loss
    from analysis.sweep import Passes
    from models.trace import Trace

MODEL = "smollm2"
HEADS = ((16, 0), (18, 6), (16, 1), (18, 8))  # previous token, induction, a control, a sink
NAMES = tuple(f"layer {layer}, head {head}" for layer, head in HEADS)
MOST = 12  # tokens that the picture has room for
LENGTH = 64  # tokens before they are repeated, in the test of ablation
LOW, HIGH = 1000, 40_000  # ids of common pieces of words: none is special
ROLES = {"previous": "previous token", "induction": "induction", "first": "first token"}
GIVEN = "When Mary and John went to the store, John gave a drink to"
OTHER = "When Mary and John went to the store, Mary gave a drink to"
NAME = 9  # the token in which they differ
LAYERS = (0, 4, 8, 12, 16, 20, 24, 28)  # in which states are patched


@real.of(MODEL)
def repeat(text: str, ablated: str) -> dict[str, Any]:
    """Weights of the heads on a text, their means by role, and the next token at each position.

    Args:
        text: to read.
        ablated: index of the head whose values become 0, or "none".

    Raises:
        InputError: for a text of too few or too many tokens.
    """
    from analysis.heads import heads
    from models.edits import Ablate

    edits = () if ablated == "none" else (Ablate(*HEADS[int(ablated)]),)
    count = len(_ids(text))
    if not 2 <= count <= MOST:
        raise InputError(f"expected 2 to {MOST} tokens, received {count}")
    trace = real.traced(MODEL, text, *edits)
    roles = heads(trace)
    best = trace.output.values[0].softmax(-1).max(-1)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return {
        "tokens": [*map(real.word, trace.labels)],
        "weights": [trace.weights(layer, head).tolist() for layer, head in HEADS],
        "roles": {
            name: [_defined(float(roles[measure][place])) for place in HEADS]
            for name, measure in ROLES.items()
        },
        "best": [{"token": _word(id), "share": share} for id, share in pairs],
    }


@real.of(MODEL)
def ablations() -> dict[str, Any]:
    """Loss and accuracy on random tokens that come twice, whole and without single heads."""
    from models.edits import Ablate

    passes, loss, right = _repeated()

    def result_of(trace: "Trace", head: int | None) -> dict[str, Any]:
        best = trace.output.values[0, LENGTH:-1].argmax(-1)
        accuracy = (best == right).float().mean().item()
        return {"head": head, "loss": loss(trace), "accuracy": accuracy}

    without = [result_of(passes.edited([Ablate(*each)]), i) for i, each in enumerate(HEADS)]
    return {"tests": [result_of(passes.clean, None), *without]}


@real.of(MODEL, slow=True)
def controls() -> dict[str, Any]:
    """The losses without each of the other heads of the layers of the first two heads."""
    from models.edits import Ablate

    passes, loss, _ = _repeated()
    layers = [layer for layer, _ in HEADS[:2]]
    others = [(layer, head) for layer in layers for head in range(9)]
    losses = sorted(
        loss(passes.edited([Ablate(*each)])) for each in others if each not in HEADS[:2]
    )
    return {
        "count": len(losses),
        "median": losses[len(losses) // 2],
        "most": losses[-1],
        "losses": losses,
    }


def _repeated() -> "tuple[Passes, Loss, Any]":
    """Passes over random tokens that come twice, the loss of the second half, and its tokens."""
    from analysis.effects import Loss
    from analysis.sweep import Passes
    from models.lessons.head_roles import repeats

    ids = repeats(1, LENGTH, LOW, HIGH)
    loss = Loss(tuple(ids[0].tolist()), first=LENGTH + 1)
    return Passes.of(real.opened(MODEL), ids), loss, ids[0, LENGTH + 1 :]


@real.of(MODEL)
def drink() -> dict[str, Any]:
    """Probabilities of both names where a state of the other sentence is put in, layer by layer."""
    from analysis.effects import Probability
    from analysis.sweep import Passes
    from models.edits import Patch
    from models.run import trace

    model = real.opened(MODEL)
    names = [_ids(name)[0] for name in (" Mary", " John")]
    passes = Passes.of(model, GIVEN)
    other = trace(model, OTHER, hidden=True)
    last = len(other.labels) - 1

    def shares(t: "Trace") -> list[float]:
        return [Probability(id)(t) for id in names]

    rows = {}
    for layer in LAYERS:
        patches = [Patch(layer, "hidden", other, token=token) for token in (NAME, last)]
        rows[str(layer)] = [shares(passes.edited([patch])) for patch in patches]
    return {"given": shares(passes.clean), "other": shares(other), "patched": rows}


def _ids(text: str) -> list[int]:
    tokenizer = real.opened(MODEL).tokenizer
    if tokenizer is None:
        raise ValueError(f"expected a model that reads text, received {MODEL}")
    return list(tokenizer.encode(text).ids)


@lru_cache(maxsize=4096)
def _word(id: int) -> str:
    tokenizer: Any = real.opened(MODEL).tokenizer
    return real.word(tokenizer.text([id]))


def _defined(value: float) -> float | None:
    return value if value == value else None  # NaN differs from itself
