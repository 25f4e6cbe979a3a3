"""The names of a network's modules, and one sentence for beginners on what each does."""

import re

from torch import nn

from models.attention.relative import RelativePositions
from models.blocks import AddNorm, FeedForward
from models.output import Projection
from models.positional import GridPositions, Learned, Sinusoidal
from models.vit import Patches

NAMES = {  # last part of a path, as libraries call it
    "Query": "q_proj query q_lin q to_q linear_q",
    "Key": "k_proj key k_lin k to_k linear_k",
    "Value": "v_proj value v_lin v to_v linear_v",
    "Query, key, value": "c_attn qkv query_key_value wqkv Wqkv qkv_proj in_proj",
    "Output projection": "o_proj out out_proj out_lin o c_proj_attn linear_out",
    "Up": "up up_proj fc1 c_fc lin1 linear1 wi wi_1 dense_h_to_4h intermediate_dense",
    "Gate": "gate gate_proj wi_0",
    "Down": "down down_proj fc2 lin2 linear2 wo dense_4h_to_h",
    "Gate and up": "gate_up_proj weights_in",
    "Feed-forward": "feed_forward mlp ffn DenseReluDense fc",
    "Token embedding": "embed_tokens word_embeddings wte tokens shared tok_embeddings embed_in",
    "Positions": "wpe position_embeddings embed_positions positions position_embedding",
    "Segments": "token_type_embeddings segments",
    "Rotary positions": "rotary_emb rotary_embed",
    "Relative positions": "relation relative_attention_bias",
    "Logits": "lm_head output embed_out",
    "Classes": "classifier score head",
    "Patches": "patch_embeddings patches patch_embed patch_embedding",
    "Activation": "act act_fn activation activation_fn intermediate_act_fn",
    "Final norm": "final_norm final_layer_norm ln_f",
    "Pooler": "pooler",
    "Router": "router",
    "Experts": "experts",
}
INSIDE = ("rotary", "alibi", "relative")  # positions that act inside attention
TITLES = {name: title for title, names in NAMES.items() for name in names.split()}
DESCRIPTIONS = {
    "Query": "What each token looks for: its vector times a matrix, split into heads.",
    "Key": "What each token can be matched on; every query is compared with it.",
    "Value": "What each token passes on when it is attended to.",
    "Query, key, value": "Three projections of every token in one matrix: what it looks for, what"
    " it can be matched on, and what it passes on.",
    "Output projection": "Brings the outputs of all heads together in one vector for each token.",
    "Up": "The first matrix of the feed-forward network: from the model's width to the hidden one.",
    "Gate": "A second projection, which decides unit by unit how much of the first passes.",
    "Down": "The last matrix of the feed-forward network: what each hidden unit writes, summed.",
    "Feed-forward": "The same small network for each token by itself: no token sees another here.",
    "Token embedding": "Each token becomes a vector: one row of a learned table.",
    "Positions": "Attention alone ignores order, so every position has a vector of its own.",
    "Segments": "Tells the first sentence from the second.",
    "Rotary positions": "Angles by which queries and keys are rotated, pair by pair of features:"
    " their product then depends on how far apart they are.",
    "ALiBi positions": "Positions that act inside attention: each head takes its slope times the"
    " distance off its scores.",
    "Relative positions": "Positions that act inside attention: a number for each distance.",
    "Output": "Turns the last vector into the number that the network returns.",
    "Logits": "Compares the last vector with one vector for each token of the vocabulary.",
    "Classes": "Turns the last vector into a score for each class.",
    "Patches": "Cuts the picture into patches, and turns each into a vector.",
    "Activation": "A non-linear function of each number: without it two matrices would be one.",
    "Norm": "Brings every token's vector to one scale, then applies a learned factor.",
    "Add and norm": "Adds what the part before it wrote to its input, then brings each vector to"
    " one scale.",
}


def title_of(path: str, module: nn.Module) -> str:
    """The name of a module for readers; a block is “Layer 3”."""
    name = path.rpartition(".")[2]
    if name.isdigit():
        return f"Layer {name}"
    if isinstance(module, AddNorm):
        return "Add and norm"
    kind = kind_of(module)
    if isinstance(module, RelativePositions):
        return {"rotary": "Rotary positions", "alibi": "ALiBi positions"}.get(
            module.kind, "Relative positions"
        )
    if path == "out":  # of the smallest transformer
        return "Output"
    if name in TITLES:
        is_in_block = any(part.isdigit() for part in path.split("."))
        return "Norm" if TITLES[name] == "Final norm" and is_in_block else TITLES[name]
    if kind == "norm":
        return "Norm"
    if isinstance(module, FeedForward):
        return "Feed-forward"
    if kind == "embedding":
        return "Token embedding"
    if kind == "activation":
        return "Activation"
    return re.sub("[_]+", " ", name).strip().capitalize() or type(module).__name__


def description_of(path: str, module: nn.Module) -> str:
    """What a module does, in one sentence; "" where that is not known."""
    names = title_of(path, module), kind_of(module).capitalize()
    return next((DESCRIPTIONS[name] for name in names if name in DESCRIPTIONS), "")


def kind_of(module: nn.Module) -> str:
    """ "linear", "norm", "embedding", "convolution", "positions", "activation" or ""."""
    name = type(module).__name__
    if isinstance(module, nn.Linear | Projection) or name == "Conv1D":
        return "linear"
    if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d):
        return "convolution"
    if scheme_of(module):
        return "positions"
    if isinstance(module, nn.Embedding):
        return "embedding"
    if "norm" in name.lower() and not any(module.children()):
        return "norm"
    if isinstance(module, Patches):
        return "patches"
    owned = any(True for _ in module.parameters()) or any(True for _ in module.buffers())
    lone = not any(module.children()) and not owned
    return (
        "activation"
        if lone and re.search("elu|silu|tanh|sigmoid|activation|swish", name, re.I)
        else ""
    )


def scheme_of(module: nn.Module) -> str:
    """The kind of a module's positions: "sinusoidal", "learned", "sincos2d", "rotary", "alibi" or
    "relative"; "" for what holds none."""
    if isinstance(module, Sinusoidal):
        return "sinusoidal"
    if isinstance(module, RelativePositions):
        return module.kind if module.kind in INSIDE else ""
    if isinstance(module, GridPositions):
        return "" if module.kind == "none" else module.kind
    name = type(module).__name__.lower()
    if isinstance(module, Learned) or (isinstance(module, nn.Embedding) and "position" in name):
        return "learned"
    return "rotary" if "rotary" in name and not any(module.parameters()) else ""
