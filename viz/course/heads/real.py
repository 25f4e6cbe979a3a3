"""The habits of all 270 heads of SmolLM2 on a sentence."""

from typing import Any

from viz.course import real
from viz.course.inputs import InputError

MODEL = "smollm2"
FEWEST, MOST = 4, 40  # tokens


@real.of(MODEL)
def habits_of(text: str) -> dict[str, Any]:
    """How many heads have each habit, and the head that shows it most.

    Args:
        text: to read.

    Raises:
        InputError: for a text of too few or too many tokens.
    """
    from analysis.habits import HABITS, habits

    trace = real.traced(MODEL, text)
    if not FEWEST <= len(trace.labels) <= MOST:
        raise InputError(f"expected {FEWEST} to {MOST} tokens, received {len(trace.labels)}")
    read = habits(trace)
    names = [name for layer in read.names for name in layer]
    rows = []
    for scores, name in zip(read.scores, HABITS, strict=True):
        layer, head = divmod(int(scores.flatten().argmax()), scores.shape[1])
        count = names.count(name)
        if count:
            score = scores[layer, head].item()
            rows.append(
                {"name": name, "count": count, "layer": layer, "head": head, "score": score}
            )
    rows.sort(key=lambda row: -row["count"])
    others = len(names) - sum(row["count"] for row in rows)
    return {"rows": rows, "heads": len(names), "others": others}
