"""Tiny models of transformers on which edits are tried: one for each mechanism of attention."""

from functools import cache
from typing import Any

from torch import Tensor

from models.run import Trace, trace
from tests.analysis.test_gated_attention import FAMILIES
from tests.models.architectures import ARCHITECTURES
from tests.models.pretrained.tiny import TEXT, build, ids

BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}
GATED = "gated attention"
PARALLEL = "Phi, attention and MLP in parallel"
WHERE = [  # with grouped heads, windows, caps, sinks, biases, gates, and parallel branches
    ("BERT", "self"),
    ("ModernBERT", "self"),
    ("GPT-2", "causal"),
    ("GPT-NeoX", "causal"),
    (PARALLEL, "causal"),
    ("Llama", "causal"),
    ("Mistral", "causal"),
    ("Gemma 2", "causal"),
    ("GPT-OSS", "causal"),
    (GATED, "causal"),
    ("DeepSeek-V3", "causal"),
    ("T5", "self"),
    ("T5", "causal"),
    ("T5", "cross"),
    ("BART", "cross"),
    ("DINOv2 with registers", "self"),
    ("BEiT", "self"),
    ("ViT", "self"),
]
NAMES = [*dict.fromkeys(name for name, _ in WHERE)]


@cache
def model(name: str) -> Any:
    """The network of an architecture."""
    if name == GATED:
        return build(*FAMILIES["query and gate interleaved"])
    if name == PARALLEL:
        return build("PhiForCausalLM", "PhiConfig", {**TEXT, "hidden_size": 48})
    return BY_NAME[name].build()


@cache
def plain(name: str) -> Trace:
    """The pass without an edit."""
    return trace(model(name), inputs(name), hidden=True)


def inputs(name: str) -> dict[str, Tensor]:
    """Two items without padding: what an edit does to it has a test of its own."""
    given = BY_NAME[name].inputs() if name in BY_NAME else {"input_ids": ids(2, 11)}
    given.pop("attention_mask", None)
    return given


# the blocks, as the library names them
STACKS: dict[tuple[str, str | None], str] = {
    ("BERT", None): "encoder.layer",
    ("ModernBERT", None): "layers",
    ("GPT-2", None): "transformer.h",
    ("GPT-NeoX", None): "gpt_neox.layers",
    (PARALLEL, None): "model.layers",
    ("Llama", None): "model.layers",
    ("Mistral", None): "model.layers",
    ("Gemma 2", None): "model.layers",
    ("GPT-OSS", None): "model.layers",
    (GATED, None): "model.layers",
    ("DeepSeek-V3", None): "model.layers",
    ("T5", "encoder"): "encoder.block",
    ("T5", "decoder"): "decoder.block",
    ("BART", "encoder"): "model.encoder.layers",
    ("BART", "decoder"): "model.decoder.layers",
    ("Whisper", "decoder"): "model.decoder.layers",
    ("DINOv2 with registers", None): "encoder.layer",
    ("BEiT", None): "layers",
    ("ViT", None): "layers",
    ("SigLIP", "vision"): "vision_model.encoder.layers",
    ("wav2vec 2.0", None): "encoder.layers",
}
