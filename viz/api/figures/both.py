"""A small trained encoder–decoder that reads a date and writes it as year-month-day."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.api.figures.trained import encoded, trained
from viz.api.requests import QuestionError

if TYPE_CHECKING:
    from models.trace import Trace

MODEL = "dates"
MOST = 24  # characters that the picture has room for
ROWS = 11  # of the decoder: the begin symbol and ten characters
UNKNOWN = "[UNK]"
BEST = 3  # candidates for the next character


def numbers(date: str, written: int, head: int, at: int, length: int, width: int) -> dict[str, Any]:
    """Weights of a head while a character is written, and what one layer costs.

    Args:
        date: as people write it.
        written: number of characters that are already there.
        head: of every layer.
        at: the character read whose self-attention is shown; at most the last one.
        length: tokens of a text, for the cost.
        width: of its tokens.

    Raises:
        QuestionError: for a date that is too long, or has characters the model does not know.
    """
    trace = _read(date)
    site = next(site for site in trace.sites if site.kind == "cross")
    source, target = trace.key_labels(site), trace.query_labels(site)[:ROWS]
    reading, own, cross = (
        trace.weights(layer=0, head=head, kind=kind) for kind in ("self", "causal", "cross")
    )
    cross, shares = cross[:ROWS], trace.output.values[0, :ROWS].softmax(-1)
    names = trained(MODEL)[1].target_tokens
    chosen = [_shown(names[id]) for id in shares.argmax(-1).tolist()]
    row, at = min(written, len(chosen) - 1), min(at, len(source) - 1)
    best = shares[row].topk(BEST)
    most = int(cross[row].argmax())
    return {
        "source": [_shown(label) for label in source],
        "target": [_shown(label) for label in target],
        "chosen": chosen,
        "written": row,
        "at": at,
        "self": reading[at].tolist(),
        "causal": own[row, : row + 1].tolist(),
        "cross": cross.tolist(),
        "most": {"token": _shown(source[most]), "at": most, "weight": cross[row, most].item()},
        "best": [
            {"token": _shown(names[id]), "share": share}
            for id, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ],
        "iso": "".join(target[1:]),
        "now": chosen[row],
        "cost": _cost(length, width),
    }


def _cost(length: int, width: int) -> dict[str, Any]:
    from models.lessons import reach

    found = reach.multiplications(length, width)
    return {
        "length": length,
        "width": width,
        "scores": found.scores,
        "sums": found.sums,
        "projections": found.projections,
        "total": found.total,
        "equal": 2 * width,
        "steps": {kind: reach.cost(kind, length, width).steps for kind in reach.KINDS},
        "paths": {kind: reach.cost(kind, length, width).path for kind in reach.KINDS},
    }


@lru_cache(maxsize=256)
def _read(date: str) -> "Trace":
    from models.run import trace

    tokens = encoded(MODEL, date)
    if len(tokens.labels) > MOST:
        raise QuestionError(f"expected at most {MOST} characters, received {len(tokens.labels)}")
    unknown = [label for label in tokens.labels if UNKNOWN in label]
    if unknown:
        received = unknown[0].replace(UNKNOWN, "").strip()
        raise QuestionError(f"expected letters a to z, digits and , . - / ', received {received!r}")
    return trace(trained(MODEL)[0], date)


def _shown(label: str) -> str:
    """A token as a label: spaces and special tokens can be seen."""
    return {" ": "␣", "<begin>": "begin", "[END]": "end"}.get(label, label)
