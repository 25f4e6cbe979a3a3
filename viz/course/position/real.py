"""Which rotary speeds the heads of SmolLM2 use, in our own code."""

from typing import Any

from viz.course import real
from viz.course.inputs import InputError

MODEL = "smollm2"
HEADS = ((16, 0), (11, 6), (18, 6))  # the token before, itself, induction
BANDS = ((0, 4), (4, 8), (8, 16), (16, 24), (24, 32))  # pairs, the fastest first
MOST = 40  # tokens


@real.of(MODEL)
def speeds(text: str) -> dict[str, Any]:
    """Speeds of the pairs of a head, and how much of q·k each band of pairs can contribute.

    A pair's part of q·k is at most the product of the lengths of its two parts; turning them
    changes neither.

    Args:
        text: to read.

    Raises:
        InputError: for a text of too few or too many tokens.
    """
    from models.attention.relative import rotary_angles

    model: Any = real.opened(MODEL, "own")
    trace = real.traced(MODEL, text)
    if not 2 <= len(trace.labels) <= MOST:
        raise InputError(f"expected 2 to {MOST} tokens, received {len(trace.labels)}")
    config = model.network.config
    rates = rotary_angles(2, config.attention.width, base=config.rotary_base)[1]
    shares = []
    for layer, head in HEADS:
        pattern = trace.pattern(layer)
        group = pattern.heads // pattern.k.shape[1]
        q, k = pattern.q[0, head], pattern.k[0, head // group]
        lengths = [x.unflatten(-1, (2, -1)).norm(dim=-2).mean(0) for x in (q, k)]
        most = lengths[0] * lengths[1]
        shares.append([(most[a:b].sum() / most.sum()).item() for a, b in BANDS])
    return {"rates": rates.tolist(), "shares": shares, "base": config.rotary_base}
