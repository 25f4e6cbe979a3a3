"""One BERT-base with random weights, in four forms that share them.

traced  our network, through `models.run.trace`: it keeps every head's pattern
door    transformers' own code, traced the same way through its attention interface
fused   transformers with PyTorch's fused attention, which gives no weights
eager   transformers with attention spelled out, which returns every weight

Weights are redrawn with a standard deviation of 1/√fan-in, larger for queries and keys: with the
usual 0.02 all heads would be nearly uniform, and the comparison meaningless.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from models.encoder import Encoder
from models.loading.convert import bert
from models.run import Trace, load, trace
from models.seeding import Undrawn

CASES = ("traced", "door", "fused", "eager")
READINGS = ("one head", "one layer", "every layer", "every block")
LAYERS, HEADS, DIM, MLP, VOCAB, LONGEST = 12, 12, 768, 3072, 30522, 2048
# float32 round-off, through 12 layers, of sums taken in another order
CLOSE = 5e-4
SHARPER = 3.0

Forward = Callable[[Tensor], Any]


def build(device: str = "cpu", *, layers: int = LAYERS) -> dict[str, Forward]:
    """The forms, each a function of ids `batch token`."""
    fused = _bert("sdpa", layers).to(device)
    _redraw(fused, 0)
    eager = _bert("eager", layers).to(device)
    eager.load_state_dict(fused.state_dict(), assign=True)
    ours, theirs = load(_converted(fused)), load(fused)

    def run_fused(ids: Tensor) -> Any:
        with torch.inference_mode():
            return fused(ids)

    def run_eager(ids: Tensor) -> Any:
        with torch.inference_mode():
            return eager(ids, output_attentions=True)

    return {
        "traced": lambda ids: trace(ours, ids),
        "door": lambda ids: trace(theirs, ids),
        "fused": run_fused,
        "eager": run_eager,
    }


def draw_ids(tokens: int, device: str = "cpu") -> Tensor:
    """A text of that many tokens, as ids `1 token`."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(VOCAB, (1, tokens), generator=generator).to(device)


def compare(forms: dict[str, Forward], ids: Tensor) -> dict[str, float]:
    """How far they are apart: outputs, and one head of each layer's weights.

    Raises:
        RuntimeError: if they do not compute the same.
    """
    traced, door, eager = (forms[name](ids) for name in ("traced", "door", "eager"))
    hidden = eager.last_hidden_state
    away = {
        "output": _away(traced.output.values, hidden),
        "door output": _away(door.output.values, hidden),
        "fused output": _away(forms["fused"](ids).last_hidden_state, hidden),
    }
    for name, mine in (("weights", traced), ("door weights", door)):
        away[name] = max(
            _away(mine.weights(layer, layer % HEADS), weights[0, layer % HEADS])
            for layer, weights in enumerate(eager.attentions)
        )
    far = {name: value for name, value in away.items() if not value <= CLOSE}
    if far:
        raise RuntimeError(f"expected the same results up to {CLOSE}, received {far}")
    return away


def read(trace: Trace, what: str) -> None:
    """Works out weights of a finished trace, and lets go of them.

    Args:
        trace: where to read.
        what: "one head", "one layer", "every layer" (one after the other) or "every block" (every
            weight once, in blocks of rows, as the numbers over all heads are computed).
    """
    middle = len(trace.sites) // 2
    if what == "one head":
        trace.weights(middle, HEADS // 2)
    elif what == "one layer":
        trace.weights(middle)
    elif what == "every layer":
        for site in trace.sites:
            trace.weights(site.layer)
    else:
        for pattern in trace.patterns:
            for _ in pattern.blocks():
                pass


def _away(these: Tensor, those: Tensor) -> float:
    """The largest difference, as a share of the largest magnitude."""
    return float((these - those).abs().max() / those.abs().max())


def _bert(attention: str, layers: int) -> nn.Module:
    from transformers import BertConfig, BertModel
    from transformers.initialization import no_init_weights

    config = BertConfig(
        vocab_size=VOCAB,
        hidden_size=DIM,
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        intermediate_size=MLP,
        max_position_embeddings=LONGEST,
    )
    with no_init_weights():
        model = BertModel._from_config(
            config, attn_implementation=attention, add_pooling_layer=False
        )
    return model.eval()


@torch.no_grad()
def _redraw(model: nn.Module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            spread = _spread(name, parameter.shape[1])
            drawn = torch.empty(parameter.shape).normal_(0, spread, generator=generator)
        else:
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            drawn = torch.empty(parameter.shape).normal_(centre, 0.1, generator=generator)
        parameter.copy_(drawn)


def _spread(name: str, fan_in: int) -> float:
    if "embeddings" in name:
        return 1.0
    return (SHARPER if "query" in name or "key" in name else 1.0) * fan_in**-0.5


def _converted(model: Any) -> Encoder:
    config = bert.config(model.config.to_dict(), model.state_dict())
    state, _ = bert.weights(model.state_dict(), config)
    with Undrawn():
        network = Encoder(config)
    network.load_state_dict(state, assign=True)
    return network
