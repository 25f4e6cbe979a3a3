"""The architecture of a model with random weights, drawn anew."""

import pytest
import torch
from transformers import BertConfig, BertModel

from models.run import load, trace

TEXT = "the cats near the cabinet"


@pytest.mark.parametrize("name", ["grammar-next", "minilm", "reverse"])
def test_an_untrained_model_is_that_of_its_config_and_seed(name: str) -> None:
    model = load(name)
    before = {each: weights.clone() for each, weights in model.network.state_dict().items()}
    drawn = model.untrained(seed=3)
    torch.manual_seed(3)
    expected = type(model.network)(drawn.network.config).state_dict()
    for each, weights in drawn.network.state_dict().items():
        assert torch.equal(weights, expected[each])
    assert all(torch.equal(model.network.state_dict()[each], before[each]) for each in before)
    assert drawn.network.config.seed == 3
    assert (drawn.trained, model.trained, drawn.network.training) == (False, True, False)
    t = trace(drawn, TEXT if name != "reverse" else "stream")
    assert not t.trained
    assert t.labels == trace(model, TEXT if name != "reverse" else "stream").labels


def test_a_network_of_the_library_is_drawn_as_the_library_does() -> None:
    config = BertConfig(vocab_size=31, hidden_size=22, num_attention_heads=2, num_hidden_layers=3)
    model = load(BertModel(config))
    state = torch.random.get_rng_state()
    drawn = model.untrained()
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.manual_seed(0)
    expected = BertModel(config).state_dict()
    for each, weights in drawn.network.state_dict().items():
        assert torch.equal(weights, expected[each])
    assert trace(drawn, torch.tensor([[1, 5, 7]])).weights(layer=2).shape == (2, 3, 3)
