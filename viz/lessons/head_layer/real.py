"""The head layer of SmolLM2: its last vector, rows of its tied table, logits and losses."""

from typing import Any

from viz.lessons import real
from viz.lessons.inputs import InputError

MODEL = "smollm2"
BEST = 6  # tokens shown
MOST = 40  # tokens
TEMPERATURES = (0.5, 2.0)


@real.of(MODEL)
def head(text: str) -> dict[str, Any]:
    """The likeliest next tokens with their logits, and the numbers these come from.

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
        out = model.network(ids)
    h, logits = out.hidden[0, -1], out.logits[0, -1]
    table = model.network.get_parameter("embedding.tokens.weight").detach()
    shares = logits.softmax(-1)
    best = shares.topk(BEST).indices
    rows = table[best]
    return {
        "words": [real.word(model.tokenizer.text([id])) for id in best.tolist()],
        "norm": h.norm().item(),
        "rows": rows.norm(dim=-1).tolist(),
        "cosines": torch.cosine_similarity(rows, h[None]).tolist(),
        "logits": logits[best].tolist(),
        "shares": shares[best].tolist(),
        "losses": (-shares[best].log()).tolist(),
        "rest": 1 - shares[best].sum().item(),
        "tempered": [(logits / each).softmax(-1)[best].tolist() for each in TEMPERATURES],
        "vocab": table.shape[0],
        "dim": table.shape[1],
        "even": torch.tensor(float(table.shape[0])).log().item(),
    }
