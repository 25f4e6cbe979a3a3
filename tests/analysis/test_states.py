"""States patched from another input: attributions against a loop, effects against passes."""

import pytest
import torch

from analysis.effects import Logit
from analysis.sweep import state_sweep
from models.decoder import Decoder, DecoderConfig
from models.edits import Patch
from models.run import trace
from tests.models.architectures import BY_NAME, GROUPED, build

FIRST, SECOND = torch.tensor([[3, 7, 1, 9, 4]]), torch.tensor([[3, 7, 2, 9, 4]])


HYBRID = {**GROUPED, "layer_types": ["conv", "full_attention", "conv"], "num_hidden_layers": 3}
NETWORKS = {
    "own": lambda: Decoder(DecoderConfig(vocab=31, dim=12, heads=2, depth=3)),
    "Llama": BY_NAME["Llama"].build,
    "GPT-2": BY_NAME["GPT-2"].build,
    "LFM2": lambda: build("Lfm2ForCausalLM", "Lfm2Config", HYBRID),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_state_of_a_decoder(name: str) -> None:
    network = NETWORKS[name]()
    result = state_sweep(network, FIRST, SECOND, measure=Logit(5), top=1000)
    other = trace(network, SECOND, hidden=True)
    plain = trace(network, FIRST).output.values[0, -1, 5]
    layers, tokens = result.exact.shape
    assert (layers, tokens) == (len(other.hidden_states[None].states) - 1, 5)
    assert (result.attribution[:, :2] == 0).all()  # before the tokens differ
    for layer in range(layers):
        for token in range(2, tokens):
            if layer == 0 and token != 2:
                continue  # the embeddings of equal tokens
            edits = [Patch(layer, "hidden", other, token=token)]
            patched = trace(network, FIRST, edits=edits).output.values[0, -1, 5]
            assert float(result.exact[layer, token]) == pytest.approx(
                float(patched - plain), abs=1e-5
            )
    assert result.exact.isnan().sum() == (result.attribution == 0).sum()


def test_an_attribution_is_the_slope_of_a_small_change() -> None:
    network = Decoder(DecoderConfig(vocab=31, dim=12, heads=2, depth=3))
    rough = state_sweep(network, FIRST, SECOND, measure=Logit(5)).attribution
    t, other = (trace(network, each, hidden=True) for each in (FIRST, SECOND))
    small = 1e-3
    for layer, token in ((0, 2), (1, 3), (2, 4)):
        nearly = torch.lerp(t.hidden(layer), other.hidden(layer), small)
        states = []

        def edited(_: object, given: tuple, nearly=nearly, token=token, states=states) -> tuple:
            x = given[0].clone()
            x[0, token] = nearly[token]
            states.append(x)
            return (x, *given[1:])

        handle = network.blocks[layer].register_forward_pre_hook(edited)
        changed = trace(network, FIRST).output.values[0, -1, 5]
        handle.remove()
        slope = float(changed - trace(network, FIRST).output.values[0, -1, 5]) / small
        assert len(states) == 1
        assert float(rough[layer, token]) == pytest.approx(slope, rel=0.03, abs=2e-3)


def test_inputs_of_other_lengths_are_refused() -> None:
    network = Decoder(DecoderConfig(vocab=31, dim=12, heads=2, depth=3))
    with pytest.raises(ValueError, match="received 5 and 3: choose words that have as many"):
        state_sweep(network, FIRST, FIRST[:, :3], measure=Logit(0))
