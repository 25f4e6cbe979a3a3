"""The head layer of SmolLM2: its last vector, rows of its tied table, logits and probabilities."""

from typing import Any

from viz.course import real
from viz.course.inputs import InputError

MODEL = "smollm2"
BEST = 6  # tokens with a name
MOST = 40  # tokens
LOW, HIGH = 20, 500  # temperatures, in hundredths
MOMENTS = 8  # terms of the series for a step of descent


@real.of(MODEL)
def head(text: str) -> dict[str, Any]:
    """The last vector, the likeliest next tokens, and what the other tokens amount to.

    `drops` are logits minus the largest one. Of the tokens without a name, `sums` are
    log Σ exp(drop / T) for T = 0.20, 0.21, … 5.00, and `moments` Σ p^k for k = 1, 2, …

    Args:
        text: to go on with.

    Raises:
        InputError: for a text of too many tokens.
    """
    import torch

    model: Any = real.opened(MODEL, "own")
    ids = torch.tensor([model.tokenizer.encode(text).ids])
    if not 1 <= ids.shape[1] <= MOST:
        raise InputError(f"expected 1 to {MOST} tokens, received {ids.shape[1]}")
    with torch.no_grad():
        out = model.network(ids, logits_to_keep=1)
    h, logits = out.hidden[0, -1], out.logits[0, -1].double()
    table = model.network.get_parameter("embedding.tokens.weight").detach()
    order = logits.argsort(descending=True, stable=True)
    drops = logits - logits.max()
    best, others = order[:BEST], drops[order[BEST:]]
    shares = (others - drops.logsumexp(0)).exp()
    rows = table[best]
    return {
        "words": [real.word(model.tokenizer.text([id])) for id in best.tolist()],
        "h": h.tolist(),
        "norm": h.norm().item(),
        "rows": rows.norm(dim=-1).tolist(),
        "cosines": torch.cosine_similarity(rows, h[None]).tolist(),
        "logits": logits[best].tolist(),
        "drops": drops[best].tolist(),
        "sums": [(100 * others / each).logsumexp(0).item() for each in range(LOW, HIGH + 1)],
        "moments": [shares.pow(power).sum().item() for power in range(1, MOMENTS + 1)],
        "vocab": table.shape[0],
    }
