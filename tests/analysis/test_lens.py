"""Lenses: against plain loops and the output.

The lens of each layer against the network's own head is in tests/test_edits_everywhere.py.
"""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from analysis.lens import jacobian_lens, jacobians, logit_lens
from models.decoder import DecoderConfig
from models.edits import Ablate, AblateMLP
from models.encoder import EncoderConfig
from models.projections import Readout
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.ssru import TranslatorConfig
from models.trace import Trace
from tests.models.architectures import BY_NAME, GROUPED, TEXT, build, ids, padded

SIZES: dict[str, Any] = {"dim": 21, "depth": 3, "heads": 3, "mlp": 17, "vocab": 31}
PAIR: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "d_k": 4, "d_v": 5, "mlp": 17}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])
OWN: dict[str, Any] = {
    "pre": DecoderConfig(**SIZES),
    "post": DecoderConfig(**SIZES, norm="post", tied=False),
    "rms": DecoderConfig(**SIZES, norm_kind="rms", positions="rotary", head_dim=4),
    "pair": Seq2SeqConfig(**PAIR),
    "pair, pre": Seq2SeqConfig(**PAIR, norm="pre", scaling="emb"),
    "translator": TranslatorConfig(vocab=40, dim=22, depth=2, decoder_depth=2, heads=2, mlp=17),
    "encoder with a head": EncoderConfig(**SIZES, norm="pre", classes=31),
}
LIBRARY = ["GPT-2", "BioGPT", "GPT-NeoX", "Llama", "Mistral", "Gemma 2", "T5", "Pegasus", "BART"]
LIBRARY += ["Whisper"]
MORE: dict[str, dict[str, Any]] = {
    "Qwen2": GROUPED,
    "Qwen3": {**GROUPED, "head_dim": 8},
    "Olmo2": GROUPED,
    "Phi": {**TEXT, "hidden_size": 48},
    "Cohere": {**GROUPED, "logit_scale": 0.25},
    "Granite": {
        **GROUPED,
        "logits_scaling": 3.0,
        "residual_multiplier": 0.5,
        "embedding_multiplier": 3.0,
    },
}


def traced(name: str) -> Trace:
    if name in OWN:
        config = OWN[name]
        pair = isinstance(config, Seq2SeqConfig | TranslatorConfig)
        return trace(load(config), IDS, IDS[:, :5] if pair else None, hidden=True)
    if name in MORE:
        network = build(f"{name}ForCausalLM", f"{name}Config", MORE[name])
        return trace(network, {"input_ids": ids(1, 11)}, hidden=True)
    each = BY_NAME[name]
    return trace(each.build(), each.inputs(), hidden=True)


EVERY = pytest.mark.parametrize("name", [*OWN, *LIBRARY, *MORE])


@EVERY
def test_the_lens_of_the_last_layer_is_the_output(name: str) -> None:
    t = traced(name)
    for found in (logit_lens(t, -1), jacobian_lens(t, -1)):
        # two orders of summing over the width
        torch.testing.assert_close(found, t.output.of_item(0), rtol=1e-4, atol=1e-4)


def test_items_of_a_batch_are_read_without_their_padding() -> None:
    network = BY_NAME["Llama"].build()
    inputs = padded(2, 9, 3, left=True)
    t = trace(network, inputs, hidden=True)
    alone = trace(network, {"input_ids": inputs["input_ids"][1:, 3:]}, hidden=True)
    for layer in (0, 1, -1):
        torch.testing.assert_close(logit_lens(t, layer, item=1), logit_lens(alone, layer))
    few = logit_lens(t, 1, tokens=[-1, 0], item=1)
    torch.testing.assert_close(few, logit_lens(t, 1, item=1)[[-1, 0]])
    found = jacobians(t, [1], item=1)[0]
    torch.testing.assert_close(found, jacobians(alone, [1])[0], rtol=1e-4, atol=1e-5)


def slow_jacobian(network: Any, t: Trace, layer: int, first: int) -> Tensor:
    """Mean over t of the sum over t′ ≥ t, entry by entry, of the layers run one by one."""
    from torch.autograd.functional import jacobian

    from models.attention import Mask

    def rest(x: Tensor) -> Tensor:
        x = x[None]
        for block in network.blocks[layer:]:
            x, _ = block(x, mask=Mask(causal=True))
        return x[0]

    whole = jacobian(rest, t.hidden(layer))
    assert isinstance(whole, Tensor)  # token feature token feature
    last = whole.shape[0] - 1
    total = torch.zeros(whole.shape[1], whole.shape[1])
    for token in range(first, last):
        for later in range(first, last):
            total += whole[later, :, token]
            assert later >= token or not whole[later, :, token].any()
    return total / (last - first)


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_jacobians_are_those_of_the_blocks(layer: int) -> None:
    model = load(OWN["pre"])
    t = trace(model, IDS, hidden=True)
    found = jacobians(t, [layer])[0]
    expected = slow_jacobian(model.network, t, layer, 3)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    lens = jacobian_lens(t, layer)
    carried = t.hidden(layer) @ expected.T
    torch.testing.assert_close(lens, t.readout()(carried).detach(), rtol=1e-3, atol=1e-4)
    assert jacobian_lens(t, layer, jacobian=found).equal(lens)


@pytest.mark.parametrize("name", ["pre", "GPT-2", "Llama"])
def test_jacobians_are_those_of_the_edited_pass(name: str) -> None:
    """Without what heads and MLPs add, the last state is the first one and a constant."""
    each = BY_NAME.get(name)
    given: Any = (load(OWN[name]), IDS) if each is None else (each.build(), each.inputs())
    t = trace(*given, edits=[Ablate(None, None), AblateMLP(None)], hidden=True)
    found = jacobians(t)
    torch.testing.assert_close(found, torch.eye(found.shape[1]).expand_as(found))


def test_a_readout_by_hand() -> None:
    weight = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
    readout = Readout(weight, None, torch.tensor([0.1, 0.2]), scale=2.0, softcap=3.0)
    expected = 3 * torch.tanh(torch.tensor([2 * (3 + 8) + 0.1, 2 * (1.5 - 4) + 0.2]) / 3)
    torch.testing.assert_close(readout(torch.tensor([[3.0, 4.0]])), expected[None])
    assert F.softmax(readout(torch.tensor([3.0, 4.0])), -1).sum() == pytest.approx(1)


def test_what_cannot_be_read_is_refused_by_name() -> None:
    masked = trace(
        build("BertForMaskedLM", "BertConfig", TEXT), {"input_ids": ids(1, 9)}, hidden=True
    )
    with pytest.raises(
        ValueError, match=r"cls\.predictions\.transform\.LayerNorm: expected one norm"
    ):
        logit_lens(masked, 1)
    encoder = trace(BY_NAME["BERT"].build(), BY_NAME["BERT"].inputs(), hidden=True)
    with pytest.raises(ValueError, match="BertModel has no linear map to logits"):
        logit_lens(encoder, 0)
    plain = trace(load(OWN["pre"]), IDS)
    with pytest.raises(ValueError, match="hidden=True"):
        logit_lens(plain, 0)
    t = traced("pre")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"layer": 4}, "layer: expected 0 to 3, received 4"),
        ({"layer": 0, "tokens": [6]}, "token: expected 0 to 5, received 6"),
    ]
    for given, line in wrong:
        with pytest.raises(ValueError, match=line):
            logit_lens(t, **given)
    with pytest.raises(ValueError, match="expected 21 × 21"):
        jacobian_lens(t, 0, jacobian=torch.eye(3))
