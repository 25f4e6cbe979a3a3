"""Which sequence a tensor is of, told by the tensor itself: modules that return what they like."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.pretrained.sources import Sources, distinct, key_states


class Tower(nn.Module):
    """Reads whatever models are given."""

    def forward(
        self,
        input_ids: Any = None,
        pixel_values: Any = None,
        inputs_embeds: Any = None,
        encoder_hidden_states: Any = None,
    ) -> None: ...


class Block(nn.Module):
    def forward(self, hidden_states: Any, attention_mask: Any = None) -> None: ...


TOWER, BLOCK = Tower(), Block()


def ids() -> Tensor:
    return torch.tensor([[3, 4, 5]])


def states(tokens: int = 3) -> Tensor:
    return torch.randn(1, tokens, 7)


def pixels() -> Tensor:
    return torch.randn(1, 3, 8, 8)


def test_what_a_module_reads() -> None:
    given = {"input_ids": ids(), "pixel_values": pixels()}
    found = Sources.of(given)
    found.enter("text", TOWER, (given["input_ids"],), {})
    found.enter("image", TOWER, (), {"pixel_values": given["pixel_values"]})
    found.enter("other", TOWER, (), {"inputs_embeds": states()})
    found.enter("nothing", TOWER, (), {"input_ids": torch.zeros(1, 0, dtype=torch.long)})
    paths = ("text.layers.0.attn", "image.attn", "other.attn", "nothing.attn", "elsewhere.attn")
    assert [found.queries(path) for path in paths] == ["text", "image", None, None, None]


def test_what_a_module_inside_a_tower_reads() -> None:
    """States are of what the tower reads; ids that are no input are of nothing known."""
    given = {"input_ids": ids()}
    found = Sources.of(given)
    found.enter("text", TOWER, (given["input_ids"],), {})
    found.enter("text.body", TOWER, (), {"inputs_embeds": states()})
    found.enter("text.blocks", BLOCK, (states(),), {})
    found.enter("text.other", TOWER, (ids(),), {})
    found.enter("text.empty", TOWER, (), {})
    paths = ("text.body.attn", "text.blocks.attn", "text.other.attn", "text.empty.attn")
    assert [found.queries(path) for path in paths] == ["text", "text", None, None]


def test_keys_are_of_the_states_that_they_are_made_from() -> None:
    """By what a tower returned; else of the only other sequence whose tower has returned."""
    given = {"input_ids": ids(), "pixel_values": pixels()}
    found = Sources.of(given)
    assert found.keys(states(), "text") is None
    for name, tower in (("pixel_values", "image"), ("input_ids", "text")):
        found.enter(tower, TOWER, (), {name: given[name]})
        made, pooled = states(), torch.randn(1, 7)
        found.leave(tower, TOWER, (), (made, pooled))
        assert found.keys(made, "sound") == tower
        other = "text" if tower == "image" else "image"
        assert found.keys(pooled, other) == tower  # not by its own name: the only one left
    assert found.finished == ["image", "text"]
    assert found.keys(states(), "text") == "image"
    assert found.keys(states(), "image") == "text"
    assert found.keys(states(), "sound") is None
    found.finished.append("image")
    assert found.keys(states(), "text") == "image"


@pytest.mark.parametrize(
    "wrap", [lambda x: x, lambda x: (x,), lambda x: {"a": x}], ids=["tensor", "tuple", "mapping"]
)
def test_what_a_tower_returns_is_of_what_it_read(wrap: Any) -> None:
    given = {"input_ids": ids(), "pixel_values": pixels()}
    found = Sources.of(given)
    found.enter("text", TOWER, (given["input_ids"],), {})
    made, pooled, maps = states(), torch.randn(1, 7), torch.randn(1, 2, 3, 3)
    for each in (made, pooled, maps, None):
        found.leave("text", TOWER, (), wrap(each))
    found.leave("unknown", TOWER, (), other := states())
    names = [found.names.get(each.data_ptr()) for each in (made, pooled, maps, other)]
    assert names == ["text", None, None, None]


def test_a_tensor_given_twice_is_two() -> None:
    x, empty = ids(), torch.zeros(0)
    found = distinct({"a": x, "b": x, "c": x.clone(), "d": empty, "e": empty, "f": 5})
    assert found["a"] is x
    assert found["b"] is not x
    assert found["b"].equal(x)
    assert found["d"] is found["e"] is empty
    assert len({each.data_ptr() for each in (found["a"], found["b"], found["c"])}) == 3


def test_what_keys_are_made_from() -> None:
    class Attention(nn.Module):
        def forward(self, hidden_states: Any, key_value_states: Any = None) -> None: ...

    x, other = states(), states()
    assert key_states(Attention(), (x,), {}) is None
    assert key_states(Attention(), (x, x), {}) is None
    assert key_states(Attention(), (x, ids()), {}) is None
    assert key_states(Attention(), (x, other), {}) is other
    assert key_states(Attention(), (x,), {"key_value_states": other}) is other
