"""Hidden states against a forward hook on the block, and the last one after its norm."""

from typing import Any

import pytest
import torch
from torch import Tensor

from models.run import trace
from tests.models.architectures import BY_NAME, build, ids

EXACT = 1e-6  # the same numbers, but for the kernel that attends

# Architecture, tower, path of the blocks, path of the norm behind them (None: there is none).
STACKS: list[tuple[str, str | None, str, str | None]] = [
    ("Llama", None, "model.layers", "model.norm"),
    ("GPT-2", None, "transformer.h", "transformer.ln_f"),
    ("GPT-NeoX", None, "gpt_neox.layers", "gpt_neox.final_layer_norm"),
    ("Gemma 2", None, "model.layers", "model.norm"),
    ("Mistral", None, "model.layers", "model.norm"),
    ("BioGPT", None, "biogpt.layers", "biogpt.layer_norm"),
    ("BERT", None, "encoder.layer", None),
    ("ViT", None, "layers", "layernorm"),
    ("DINOv2", None, "encoder.layer", "layernorm"),
    ("T5", "encoder", "encoder.block", "encoder.final_layer_norm"),
    ("T5", "decoder", "decoder.block", "decoder.final_layer_norm"),
    ("BART", "encoder", "model.encoder.layers", None),
    ("BART", "decoder", "model.decoder.layers", None),
    ("Whisper", "encoder", "model.encoder.layers", "model.encoder.layer_norm"),
    ("Whisper", "decoder", "model.decoder.layers", "model.decoder.layer_norm"),
    ("CLIP", "text", "text_model.encoder.layers", "text_model.final_layer_norm"),
    ("CLIP", "vision", "vision_model.encoder.layers", None),
]


def left_by(network: Any, path: str, run: Any) -> Tensor:
    """What leaves a module in its last call."""
    seen: list[Tensor] = []

    def note(_: Any, __: Any, out: Any) -> None:
        seen.append(out[0] if isinstance(out, tuple) else out)

    hook = network.get_submodule(path).register_forward_hook(note)
    with torch.no_grad():
        run()
    hook.remove()
    return seen[-1].detach()


@pytest.mark.parametrize(("name", "tower", "blocks", "norm"), STACKS)
def test_what_leaves_each_layer(
    name: str, tower: str | None, blocks: str, norm: str | None
) -> None:
    network: Any = BY_NAME[name].build()
    given = BY_NAME[name].inputs()
    depth = len(network.get_submodule(blocks))
    found = trace(network, given, hidden=True)
    paths = [*(f"{blocks}.{index}" for index in range(depth)), *([norm] if norm else [])]
    for index, path in enumerate(paths):
        expected = left_by(network, path, lambda: network(**given))[1]
        last = index == depth
        mine = found.final(1, tower=tower) if last else found.hidden(index + 1, 1, tower=tower)
        own = found.hidden_states[tower].axes[-1].positions_of(1)
        assert (mine - expected[own]).abs().max() < EXACT * max(1, expected.abs().max())
    ending = found.hidden(depth, 1, tower=tower) - found.final(1, tower=tower)
    assert bool(ending.abs().max() > 0.01) == (norm is not None)
    parts = list(network.modules())
    before = [len(part._forward_hooks) for part in parts]
    trace(network, given, hidden=True)
    assert [len(part._forward_hooks) for part in parts] == before


@pytest.mark.parametrize("name", ["WhisperModel", "Speech2TextModel"])
def test_as_many_frames_as_tokens_of_the_decoder(name: str) -> None:
    """The encoder's states have the labels of its own attention, and all their rows."""
    frames, bins = 8, 11
    sizes = {"d_model": 12, "vocab_size": 53, "num_mel_bins": bins, "max_source_positions": 16}
    sizes |= {"input_feat_per_channel": bins} if name == "Speech2TextModel" else {}
    for part in ("encoder", "decoder"):
        sizes |= {f"{part}_layers": 1, f"{part}_attention_heads": 2, f"{part}_ffn_dim": 7}
    sizes |= {"max_source_positions": frames} if name == "WhisperModel" else {}
    network: Any = build(name, name.replace("Model", "Config"), {**sizes, "pad_token_id": 1})
    length = frames * (2 if name == "WhisperModel" else 4)
    sound = torch.randn(2, length, bins, generator=torch.Generator().manual_seed(3))
    sound = sound.mT.contiguous() if name == "WhisperModel" else sound
    shown = torch.ones(2, frames, dtype=torch.long)
    shown[1, 5:] = 0
    given = {"input_features": sound, "decoder_input_ids": ids(2, frames)}
    found = trace(network, {**given, "decoder_attention_mask": shown}, hidden=True)
    site = next(site for site in found.sites if site.tower == "encoder")
    axis = found.hidden_states["encoder"].axes[1]
    assert list(axis.tokens[1].labels) == found.query_labels(site, 1)
    assert found.query_labels(site, 1) == [f"frame {index}" for index in range(frames)]
    assert found.hidden(1, 1, tower="encoder").shape == (frames, 12)
    assert found.hidden(1, 1, tower="decoder").shape == (5, 12)
