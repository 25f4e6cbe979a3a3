"""The labels, positions and grids of single axes, each written out by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.attention import Pattern
from models.inputs.layout import Layout
from models.inputs.pretrained import ModelInputs
from models.inputs.sequences import InputSequence, layout_sequence, named_tokens
from models.pretrained.attention_modules import AttentionModules
from models.pretrained.axes import (
    axis_of,
    block_axes,
    name_items,
    numbered_axis,
    padding_of_argument,
)
from models.pretrained.observation import PROBE_TOKENS, short
from models.pretrained.recording import Recording
from models.pretrained.windows import Blocks
from models.trace import TokenAxis
from tests.models.pretrained.tiny import ids

CONFIG: Any = SimpleNamespace(vision_config=None)


def words(items: int, length: int, name: Any = "text") -> InputSequence:
    tokens = [named_tokens([f"{item} {n}" for n in range(length)]) for item in range(items)]
    return InputSequence(name, tuple(tokens), length)


def picture(items: int, frames: int = 1) -> InputSequence:
    """Of 3 rows and 5 columns."""
    tubes = tuple(range(frames)) if frames > 1 else ()
    return layout_sequence("image", Layout(3, 5, frames=tubes), items)


def labels(axis: TokenAxis | None, item: int = 0) -> list[str]:
    assert axis is not None
    return list(axis.tokens[item].labels)


def test_items_of_one_text_are_repeated() -> None:
    sequence = words(2, 3)
    own = (torch.tensor([0, 1]), torch.tensor([1, 2]))
    padded = InputSequence("text", sequence.tokens, 3, own)
    axis = axis_of("text", {"text": padded}, 3, 4, CONFIG)
    assert [labels(axis, item)[0] for item in range(4)] == ["0 0", "0 0", "1 0", "1 0"]
    assert axis is not None
    assert axis.positions is not None
    assert [each.tolist() for each in axis.positions] == [[0, 1], [0, 1], [1, 2], [1, 2]]
    assert axis_of("text", {"text": sequence}, 3, 5, CONFIG) is None
    assert axis_of("text", {"text": sequence}, 4, 2, CONFIG) is None
    assert axis_of("sound", {"text": sequence}, 3, 2, CONFIG) is None
    assert axis_of(None, {"text": sequence}, 3, 2, CONFIG) is None


def test_an_axis_that_is_none_of_an_image() -> None:
    assert axis_of("image", {"image": picture(2, frames=2)}, 16, 2, CONFIG) is None
    assert axis_of("image", {"image": picture(2)}, 15, 3, CONFIG) is None


@pytest.mark.parametrize(
    ("source", "first"),
    [
        ("sound", "frame 0"),
        ("image", "position 0"),
        ("text", "position 0"),
        (None, "position 0"),
        ("encoder_hidden_states", "encoder state 0"),
        ("object query", "object query 0"),
    ],
)
def test_numbers(source: str | None, first: str) -> None:
    axis = numbered_axis(source, 3, 2, None)
    assert (labels(axis, 1)[0], len(axis.tokens), axis.positions) == (first, 2, None)
    assert axis.tokens[0].special == (False,) * 3


def test_padding_of_states_that_are_given() -> None:
    shown = torch.tensor([[1, 1, 0], [1, 1, 1]])
    given: dict[str, Tensor] = {"encoder_hidden_states": torch.zeros(2, 3, 7)}
    source = "encoder_hidden_states"
    assert padding_of_argument(given, source) is None
    found = padding_of_argument({**given, "encoder_attention_mask": shown}, source)
    assert found is not None
    assert found.tolist() == [[False, False, True], [False] * 3]
    whole = {**given, "encoder_attention_mask": torch.ones(2, 3)}
    assert padding_of_argument(whole, source) is None
    assert padding_of_argument({**given, "encoder_attention_mask": shown[0]}, source) is None
    assert padding_of_argument({"encoder_attention_mask": shown}, source) is None


@pytest.mark.parametrize(
    ("source", "batch", "part", "names"),
    [
        ("text", 2, "prompt", ("text 0", "text 1")),
        ("target", 2, "", ("text 0", "text 1")),
        ("image", 3, "window", ("image 0", "image 1", "image 2")),
        ("image", 4, "", ("image 0", "image 1", "image 2", "image 3")),
        (
            "text",
            4,
            "part",
            ("text 0, part 0", "text 0, part 1", "text 1, part 0", "text 1, part 1"),
        ),
        ("text", 3, "part", ("item 0", "item 1", "item 2")),
        ("text", 1, "part", ("item 0",)),
        ("object query", 2, "part", ("text 0", "text 1")),
    ],
)
def test_names_of_items(source: str, batch: int, part: str, names: tuple[str, ...]) -> None:
    sequences = {"text": words(2, 3), "target": words(2, 5, "target"), "image": picture(3)}
    assert name_items(source, sequences, batch, 2, part) == names
    if source == "text" and batch > 1:
        unnamed = tuple(name.replace("text", "item") for name in names)
        assert name_items("states", {}, batch, 2, part) == unnamed


def test_columns_outside_of_an_image() -> None:
    rows, columns = block_axes(Blocks.of_image(3, 5, 2, 1), 2)
    assert (len(rows.tokens), len(columns.tokens)) == (2, 2)
    assert labels(columns) == labels(rows) + [
        f"outside {cell}" for cell in ("0,5", "1,5", "2,5", *(f"3,{n}" for n in range(6)))
    ]
    assert len(labels(rows)) == 15


def test_a_mask_of_four_axes_is_not_cut_short() -> None:
    given = {"input_ids": ids(1, 19), "attention_mask": torch.ones(1, 1, 19, 19)}
    assert short(ModelInputs(given)).arguments == given
    cut = short(ModelInputs({"input_ids": ids(1, 19)})).arguments
    assert list(cut) == ["input_ids"]
    assert cut["input_ids"].equal(ids(1, 19)[:, :PROBE_TOKENS])


@pytest.mark.parametrize(("name", "label"), [("sound", "frame 0"), ("text", "position 0")])
def test_tokens_of_an_unknown_source(name: str, label: str) -> None:
    """Where sound is all that a model is given, they are frames."""
    network = nn.Linear(2, 2)
    record = Recording(AttentionModules.find_in(network), {}, {name: words(1, 7, name)}, CONFIG, 1)
    x = torch.zeros(1, 1, 3, 2)
    rows, keys = record.axes(record.entry(network), Pattern(x, x, x), None)
    assert rows.tokens[0].labels[0] == keys.tokens[0].labels[0] == label
