"""Networks with random weights, each in forms that share them.

traced  the network of this project, through `models.run.trace`: it keeps every head's pattern
door    transformers' own code, traced the same way through its attention interface
edited  the same, with one head switched off
fused   transformers with PyTorch's fused attention, which gives no weights
eager   transformers with attention spelled out, which returns every weight

Weights are drawn with a standard deviation of 1/√fan-in, larger for queries and keys: with the
usual 0.02 all heads would be nearly uniform, and the comparison meaningless.
"""

from collections.abc import Callable, Sequence
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from analysis.heads import heads
from models.edits import Ablate
from models.run import Trace, load, trace

Form = Callable[[Tensor], Any]
FORMS = ("traced", "door", "edited", "fused", "eager")
HEADS, DIM, MLP = 12, 768, 3072  # of BERT-base and GPT-2
SHARPER = 3.0  # queries and keys
TINY: dict[str, Any] = {"num_hidden_layers": 12, "hidden_size": 48, "num_attention_heads": 4}
TINY |= {"intermediate_size": 96, "vocab_size": 128}
EIGHT: dict[str, Any] = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32}
EIGHT |= {
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128_256,
    "max_position_embeddings": 8192,
}
GPT: dict[str, Any] = {"n_layer": 12, "n_head": 4, "n_embd": 48, "vocab_size": 128}
NETWORKS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "bert": lambda: (BertModel, BertConfig(max_position_embeddings=2048)),
    "bert-tiny": lambda: (BertModel, BertConfig(**TINY)),
    "gpt2-tiny": lambda: (GPT2LMHeadModel, GPT2Config(**GPT, bos_token_id=0, eos_token_id=0)),
    "llama-tiny": lambda: (LlamaForCausalLM, LlamaConfig(**TINY)),
    "llama-8b": lambda: (LlamaForCausalLM, LlamaConfig(**EIGHT)),
}
NOT_OURS = ("gpt2-tiny", "llama-8b")  # without a converter, or too large for one
READINGS: dict[str, Callable[[Trace], object]] = {
    "reading one head": lambda t: t.weights(len(t.sites) // 2, 1),
    "reading one layer": lambda t: t.weights(len(t.sites) // 2),
    "reading every layer": lambda t: [
        None for site in t.sites if t.weights(site) is None
    ],  # one at a time
    "numbers of every head": heads,
}


def forms(network: str, names: Sequence[str] = FORMS, device: str = "cpu") -> dict[str, Form]:
    """Functions of ids `batch token`, by name; without "traced" where the network is not ours.

    Raises:
        ValueError: for a network that is not there.
    """
    if network not in NETWORKS:
        raise ValueError(f"expected one of {', '.join(NETWORKS)}, received {network!r}")
    theirs = drawn(network, device)
    by_name: dict[str, Form] = {}
    if "traced" in names and network not in NOT_OURS:
        with TemporaryDirectory() as folder:
            theirs.save_pretrained(folder)
            by_name["traced"] = partial(trace, load(folder, door="own", device=device))
    if "door" in names:
        by_name["door"] = partial(trace, load(theirs))
    if "edited" in names:
        by_name["edited"] = partial(trace, load(theirs), edits=[Ablate(6, 1)])
    if "fused" in names:
        by_name["fused"] = torch.inference_mode()(theirs)
    if "eager" in names:
        with torch.device(device):
            eager = type(theirs)._from_config(theirs.config, attn_implementation="eager").eval()
        eager.load_state_dict(theirs.state_dict(), assign=True)
        by_name["eager"] = torch.inference_mode()(partial(eager, output_attentions=True))
    return by_name


def draw_ids(tokens: int, device: str = "cpu") -> Tensor:
    """A text of that many tokens, as ids `1 token`."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(128, (1, tokens), generator=generator).to(device)


@torch.no_grad()
def drawn(network: str, device: str) -> Any:
    """The network of transformers with fused attention."""
    kind, config = NETWORKS[network]()
    with torch.device(device):
        model = kind._from_config(config, dtype=config.dtype, attn_implementation="sdpa").eval()
        torch.manual_seed(0)
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                parameter.normal_(0, spread(name, parameter.shape[1]))
            else:
                parameter.normal_(1.0 if "norm" in name.lower() and "bias" not in name else 0, 0.1)
    return model


def spread(name: str, fan_in: int) -> float:
    """The standard deviation of a matrix."""
    if any(part in name for part in ("embed", "wte", "wpe")):
        return 1.0
    sharp = any(part in name for part in ("query", "key", "q_proj", "k_proj", "c_attn"))
    return (SHARPER if sharp else 1.0) * fan_in**-0.5
