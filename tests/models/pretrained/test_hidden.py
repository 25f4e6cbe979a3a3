"""Hidden states against a forward hook on the block, and the last one after its norm."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.pretrained.block_outputs import BlockOutputs
from models.pretrained.hidden import hidden_states
from models.run import trace
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.trace import HiddenStates
from models.vit import ViT, ViTConfig
from tests.models.architectures import ARCHITECTURES
from tests.models.pretrained.tiny import build, ids

EXACT = 1e-6  # the same numbers, but for the kernel that attends
BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}

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


@pytest.mark.parametrize(
    "network",
    [
        Encoder(EncoderConfig(vocab=53, dim=30, depth=2, heads=3, mlp=37, norm="pre", seed=5)),
        Decoder(DecoderConfig(vocab=53, dim=30, depth=2, heads=3, mlp=37, seed=5)),
        ViT(ViTConfig(image=12, patch=4, dim=10, depth=2, heads=2, mlp=13, classes=3, seed=5)),
    ],
    ids=lambda network: type(network).__name__,
)
def test_our_own_networks(network: Any) -> None:
    dice = torch.Generator().manual_seed(3)
    network.eval()
    ids = torch.tensor([[3, 4, 5], [6, 7, 8]])
    pixels = torch.randn(2, 3, 12, 12, generator=dice)
    given = pixels if type(network) is ViT else ids
    scale: Any = network.norm.weight
    nn.init.uniform_(scale, 0.3, 1.7, generator=dice)
    found = trace(network, given, hidden=True)
    for index in range(2):
        expected = left_by(network, f"blocks.{index}", lambda: network(given))
        assert (found.hidden(index + 1, 1) - expected[1]).abs().max() < EXACT
    expected = left_by(network, "norm", lambda: network(given))
    assert (found.final(1) - expected[1]).abs().max() < EXACT
    assert (found.final(1) - found.hidden(2, 1)).abs().max() > 0.01


def test_our_own_encoder_decoder() -> None:
    sizes: dict[str, Any] = {"source_vocab": 53, "target_vocab": 53, "depth": 2, "dim": 12}
    network: Any = Seq2Seq(Seq2SeqConfig(**sizes, heads=2, d_k=5, d_v=7, norm="pre", seed=5)).eval()
    found = trace(network, torch.tensor([[5, 6, 7]]), torch.tensor([[8, 9]]), hidden=True)
    states = network(torch.tensor([[5, 6, 7]]), torch.tensor([[2, 8]]))
    assert (found.final(tower="encoder") - states.encoder.hidden[0]).abs().max() < EXACT
    assert found.final(tower="decoder").shape == (2, 12)
    for tower in ("encoder", "decoder"):
        assert (found.final(tower=tower) - found.hidden(2, tower=tower)).abs().max() > 0.01


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


# --- which state is the last layer's ------------------------------------------------------------

EMBEDDED, FIRST, SECOND, NORMED = (torch.full((2, 5, 3), float(number)) for number in range(4))
OTHER, POOLED, SMALL = torch.full((2, 5, 3), 7.0), torch.zeros(2, 3), torch.zeros(2, 9, 2)


def read(
    states: tuple[Tensor, ...],
    blocks: tuple[Tensor, ...],
    body: Any = None,
    gradients: tuple[Tensor | None, ...] = (),
) -> HiddenStates:
    noted = BlockOutputs({None: blocks}, body)
    return hidden_states({None: states}, {None: gradients}, noted, [])[None]
