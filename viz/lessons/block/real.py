"""A text's last token in the 30 blocks of SmolLM2: its stream, and shares of its logits."""

from typing import TYPE_CHECKING, Any

from viz.lessons import real
from viz.lessons.inputs import InputError

if TYPE_CHECKING:
    from models.decoder import DecoderOutput

MODEL = "smollm2"
AFTER = (0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30)  # blocks whose stream is read
MOST = 40  # tokens
STRONGEST = 6  # parts shown by name


@real.of(MODEL)
def stream(text: str) -> dict[str, Any]:
    """Norms of the last token's stream, what a block adds to it, and what it would be read as.

    A state is read with the last norm and the table of the network, as if it ended there.

    Args:
        text: to read.

    Raises:
        InputError: for a text of too many tokens.
    """
    import torch

    model: Any = real.opened(MODEL, "own")
    network, reader = model.network, model.tokenizer
    ids = torch.tensor([reader.encode(text).ids])
    if not 1 <= ids.shape[1] <= MOST:
        raise InputError(f"expected 1 to {MOST} tokens, received {ids.shape[1]}")
    with torch.no_grad():
        out = network(ids)
        goal = int(out.logits[0, -1].argmax())
        rows = []
        for after in AFTER:
            state = network.norm(out.states[after][:, -1])
            shares = network.output(state, network.embedding.tokens.weight)[0].softmax(-1)
            best = int(shares.argmax())
            rows.append(
                {
                    "after": after,
                    "norm": out.states[after][0, -1].norm().item(),
                    **_added(network, out, after),
                    "word": real.word(reader.text([best])),
                    "share": shares[best].item(),
                    "goal": shares[goal].item(),
                }
            )
    return {"rows": rows, "goal": real.word(reader.text([goal]))}


def _added(network: Any, out: "DecoderOutput", after: int) -> dict[str, float | None]:
    """Norms of what the attention and the MLP of the block before a state have added."""
    from models.attention import Mask

    if not after:
        return {"attention": None, "mlp": None}
    block, x = network.blocks[after - 1], out.states[after - 1]
    angles = network.relation(x.shape[1]).angles
    read = block.before_attention(x)
    attended = block.attention(read, mask=Mask(causal=True), angles=angles)[0]
    fed = out.states[after] - x - attended
    return {"attention": attended[0, -1].norm().item(), "mlp": fed[0, -1].norm().item()}


@real.of(MODEL)
def attributed(text: str) -> dict[str, Any]:
    """What each part adds to the logits of the two likeliest tokens, and to their difference.

    Of heads and MLPs the strongest by the difference are named; the rest are summed.

    Args:
        text: to go on with.

    Raises:
        InputError: for a text of too many tokens.
    """
    from analysis.attribution import logit_attribution
    from models.run import trace

    model: Any = real.opened(MODEL, "own")
    count = len(model.tokenizer.encode(text).ids)
    if not 1 <= count <= MOST:
        raise InputError(f"expected 1 to {MOST} tokens, received {count}")
    read = trace(model, text)
    logits = read.output.values[0, -1]
    ids = logits.topk(2).indices.tolist()
    first, second = (logit_attribution(read, each) for each in ids)
    gaps = {name: first[name] - second[name] for name in first}
    parts = {name: gap for name, gap in gaps.items() if name.startswith("layer ")}
    strongest = sorted(parts, key=lambda name: -abs(parts[name]))[:STRONGEST]
    rest = [name for name in parts if name not in strongest]
    groups = {
        **{name: [name] for name in strongest},
        "other heads": [name for name in rest if "head" in name],
        "other MLPs": [name for name in rest if "MLP" in name],
        "token embedding": [name for name in gaps if name not in parts],
    }
    return {
        "words": [real.word(model.tokenizer.text([each])) for each in ids],
        "logits": logits[ids].tolist(),
        "names": list(groups),
        "counts": [len(names) for names in groups.values()],
        "parts": [
            [sum(each[name] for name in names) for each in (first, second, gaps)]
            for names in groups.values()
        ],
    }
