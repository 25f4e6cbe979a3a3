"""How far the scores of SmolLM2's heads spread, with and without the division by √64."""

from typing import Any

from viz.course import real
from viz.course.inputs import InputError

MODEL = "smollm2"
HEADS = ((0, 0), (6, 0), (16, 0), (18, 6), (24, 4), (29, 0))
WIDTH = 64  # of a head
MOST = 40  # tokens


@real.of(MODEL)
def spread(text: str) -> dict[str, Any]:
    """Spread of the scores a query sees, and the largest weights, for some heads.

    Args:
        text: to read.

    Raises:
        InputError: for a text of too few or too many tokens.
    """
    trace = real.traced(MODEL, text)
    count = len(trace.labels)
    if not 2 <= count <= MOST:
        raise InputError(f"expected 2 to {MOST} tokens, received {count}")
    rows = []
    for layer, head in HEADS:
        scores = trace.scores(layer, head)
        seen = scores.isfinite()
        scaled, plain = scores.softmax(-1), (scores * WIDTH**0.5).softmax(-1)
        deviation = scores[seen].std(correction=0).item()
        rows.append(
            {
                "layer": layer,
                "head": head,
                "deviation": deviation * WIDTH**0.5,
                "scaled": deviation,
                "largest": scaled[1:].amax(-1).mean().item(),
                "unscaled": plain[1:].amax(-1).mean().item(),
            }
        )
    return {"tokens": count, "rows": rows}
