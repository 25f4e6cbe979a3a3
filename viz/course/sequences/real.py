"""Agreement over a distance in SmolLM2: which verb may follow, and who reads the noun."""

from typing import Any

from viz.course import real
from viz.course.inputs import InputError

MODEL = "smollm2"
VERBS = (" are", " is")
NOUN = 1  # place of the noun: after the article
LONGEST = 24  # tokens


@real.of(MODEL)
def agreement(text: str) -> dict[str, Any]:
    """Probabilities of both verbs after a text, and the head that reads its second token most.

    Args:
        text: the start of a sentence, such as "The keys near the cabinet".

    Raises:
        InputError: for a text of too few or too many tokens.
    """
    import torch

    tokenizer = real.opened(MODEL).tokenizer
    if tokenizer is None:
        raise ValueError(f"expected a model that reads text, received {MODEL}")
    count = len(tokenizer.encode(text).ids)
    if not NOUN + 1 < count <= LONGEST:
        raise InputError(f"expected {NOUN + 2} to {LONGEST} tokens, received {count}")
    trace = real.traced(MODEL, text)
    shares = trace.output.values[0, -1].softmax(-1)
    rows = torch.stack(
        [trace.weights(site.layer, head)[-1, NOUN] for site in trace.sites for head in range(9)]
    )
    best = int(rows.argmax())
    return {
        "noun": real.word(trace.labels[NOUN]),
        "distance": count - NOUN,
        "verbs": [shares[tokenizer.encode(verb).ids[-1]].item() for verb in VERBS],
        "layer": best // 9,
        "head": best % 9,
        "weight": rows[best].item(),
    }
