"""What is kept of an input for the pass in which modules are observed."""

import pytest
import torch

from models.inputs.pretrained import ModelInputs, prepare_inputs
from models.pretrained.observation import PROBE_TOKENS, observe, short
from models.pretrained.passes import run_network
from models.run import as_model
from tests.models.pretrained.tiny import BY_NAME

MANY = PROBE_TOKENS + 5


def given(items: int, tokens: int) -> torch.Tensor:
    return torch.arange(items * tokens).view(items, tokens)


@pytest.mark.parametrize("own", [0, 1])
def test_the_first_tokens_of_the_longest_item(own: int) -> None:
    """The decoder's side is that item's too; padding in front is left out."""
    shown = torch.zeros(2, MANY, dtype=torch.long)
    shown[own, 2:], shown[1 - own, 4:] = 1, 1
    ids, target = given(2, MANY), given(2, MANY) + 100
    arguments = {"input_ids": ids, "attention_mask": shown, "decoder_input_ids": target}
    found = short(ModelInputs(arguments)).arguments
    assert found["input_ids"].equal(ids[own : own + 1, 2 : 2 + PROBE_TOKENS])
    assert found["decoder_input_ids"].equal(target[own : own + 1, :PROBE_TOKENS])
    assert found.keys() == {"input_ids", "decoder_input_ids"}


def test_without_padding_the_first_item() -> None:
    kinds = given(2, 5) + 50
    found = short(ModelInputs({"input_ids": given(2, 5), "token_type_ids": kinds})).arguments
    assert found["input_ids"].tolist() == [[0, 1, 2, 3, 4]]
    assert found["token_type_ids"].equal(kinds[:1])


@pytest.mark.parametrize(
    "arguments",
    [
        {"pixel_values": torch.zeros(2, 3, 4, 4)},
        {"input_ids": given(2, MANY), "pixel_values": torch.zeros(2, 4)},
        {"input_ids": given(2, MANY), "attention_mask": torch.zeros(2, 1, MANY, MANY)},
        {"input_ids": given(2, MANY), "use_cache": True},
    ],
)
def test_what_cannot_be_cut_stays(arguments: dict) -> None:
    found = short(ModelInputs(arguments)).arguments
    assert found == arguments
    assert found is not arguments


def test_calls_are_noted_in_the_one_pass_only() -> None:
    model = as_model(BY_NAME["BERT"].build())
    inputs = prepare_inputs(model, given(1, 5))
    _, calls, _ = observe(model, inputs)
    assert {call.path for call in calls} >= {"embeddings.LayerNorm", "encoder.layer.1.output.dense"}
    noted = len(calls)
    run_network(model, inputs)
    assert len(calls) == noted


def test_calls_without_such_rows_are_left_out() -> None:
    """Whether it is what a module reads or what it returns that has none."""
    model = as_model(BY_NAME["BERT"].build())
    inputs = prepare_inputs(model, given(1, 5))
    width = model.network.config.hidden_size

    def wide(x: torch.Tensor) -> torch.Tensor | None:
        return x if x.shape[-1] == width else None

    _, calls, _ = observe(model, inputs, rows=wide)
    assert any(call.path.endswith("attention.self.query") for call in calls)
    assert all(call.given.shape[-1] == call.output.shape[-1] == width for call in calls)
    assert not any(part._forward_hooks for part in model.network.modules())
