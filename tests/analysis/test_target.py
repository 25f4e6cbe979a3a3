"""What is explained, against transformers' own logits and against each item alone."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from analysis.faithfulness import faithfulness
from analysis.outputs import likeliest, top_ids
from analysis.relevance import explain
from analysis.target import Target, choose, kind_of, name_of, target_in, text_of
from models.files.folder import Folder
from models.preprocessing import FILE, read_preprocessing
from models.run import load, trace
from models.trace import Output
from models.vit import ViTConfig
from tests.models.architectures import BY_NAME, padded

TOKENS, PADDING = 7, 3
SIDES = pytest.mark.parametrize("left", [False, True], ids=["right", "left"])


def both(left: bool) -> tuple[dict[str, Tensor], Tensor]:
    """Two items, the second with padding, and the second alone."""
    inputs = padded(2, TOKENS, PADDING, left=left)
    return inputs, inputs["input_ids"][1:, inputs["attention_mask"][1].bool()]


def ends(inputs: dict[str, Tensor]) -> list[int]:
    """Where the last real token of each item lies."""
    return [int(row.nonzero().max()) for row in inputs["attention_mask"]]


@SIDES
@pytest.mark.parametrize("name", ["GPT-2", "Llama"])
def test_the_logit_after_the_last_real_token_is_explained(name: str, left: bool) -> None:
    network = BY_NAME[name].build()
    inputs, _ = both(left)
    with torch.no_grad():
        logits = network(**inputs).logits
    for item, end in enumerate(ends(inputs)):
        found = explain(load(network), inputs, target=Target(5, item=item))
        assert found.value == pytest.approx(float(logits[item, end, 5]), abs=1e-5)
        likeliest = choose(load(network), inputs, Target(item=item))
        assert likeliest.id == int(logits[item, end].argmax())


@SIDES
def test_positions_of_an_output_are_an_items_own(left: bool) -> None:
    network = BY_NAME["GPT-2"].build()
    inputs, _ = both(left)
    with torch.no_grad():
        logits = network(**inputs).logits
    found = trace(load(network), inputs)
    for item, shown in enumerate(inputs["attention_mask"].bool()):
        own = logits[item, shown]
        assert top_ids(found, item=item) == tuple(own.argmax(-1).tolist())
        for place in (0, 1, -1):
            expected = torch.softmax(own[place], -1).topk(3)
            top = likeliest(found, place, count=3, item=item)
            assert top.ids == tuple(expected.indices.tolist())
            assert top.place == place % len(own)


@pytest.mark.parametrize("given", ["text", "pair", "ids", "two masks"])
def test_the_masked_word_is_explained_in_whatever_way_it_is_given(given: str) -> None:
    model: Any = load("grammar")
    text = "the [MASK] sleeps"
    inputs: dict[str, Any] = {
        "text": text,
        "pair": ("the [MASK]", "sleeps"),
        "ids": torch.tensor([model.tokenizer.encode(text).ids]),
        "two masks": "the [MASK] [MASK]",
    }
    whole = trace(model, inputs[given])
    place = whole.labels.index("[MASK]")
    assert place < len(whole.labels) - 1
    found = choose(model, inputs[given], None)
    assert found.position == place
    assert found.id == int(whole.output.values[0, place].argmax())


def test_a_multi_label_probability_is_a_sigmoid() -> None:
    config = ViTConfig(image=12, patch=4, dim=20, heads=2, depth=1, mlp=13, classes=5)
    pixels = torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(1))
    model = replace(load(config), multi_label=True)
    logits = trace(model, pixels).output.values[1]
    found = faithfulness(model, pixels, torch.rand(10), target=Target(3, item=1), orders=1)
    assert found.value == pytest.approx(float(logits[3].sigmoid()), abs=1e-6)


def test_a_probability_is_among_the_answers_of_its_question() -> None:
    output = Output("logits", torch.tensor([[0.3, 2.0, -1.0, 0.5, 1.5]]))
    found = float(Target(4, among=range(3, 5)).probability(output))
    assert found == pytest.approx(1 / (1 + math.exp(0.5 - 1.5)))


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ({"do_normalize": False, "rescale_factor": 1 / 255}, (0.5, 0.5, 0.5)),
        ({"do_normalize": False, "do_rescale": False}, (127.5, 127.5, 127.5)),
        ({"image_mean": (0, 0, 0), "image_std": (0.25, 0.5, 1)}, (2, 1, 0.5)),
    ],
)
def test_grey_is_no_black_where_no_mean_is_subtracted(
    given: dict[str, Any], level: tuple[float, ...], tmp_path: Path
) -> None:
    config = ViTConfig(image=12, patch=4, dim=20, heads=2, depth=1, mlp=13, classes=5)
    (tmp_path / FILE).write_text(json.dumps({**given, "size": 12}))
    theirs = transformers.ViTConfig(image_size=12, patch_size=4)
    preprocessing = read_preprocessing(Folder.at(tmp_path), theirs)
    model = replace(load(config), preprocessing=preprocessing)
    pixels = torch.rand(1, 3, 12, 12, generator=torch.Generator().manual_seed(1))
    relevance = torch.tensor([0, 9, 1, 2, 3, 4, 5, 6, 7, 8.0])
    painted = pixels.clone()
    painted[..., :4, :4] = torch.tensor(level)[:, None, None]
    expected = float(trace(model, painted).output.values[0].softmax(-1)[2])
    found = faithfulness(model, pixels, relevance, target=2, removal="grey", levels=(0.1,))
    assert found.value - float(found.comprehensiveness[0]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["grammar", "grammar-next", "induction", "dates"])
def test_a_target_as_a_text_is_the_same_again(name: str) -> None:
    model: Any = load(name)
    given = {"dates": "12 March 2024", "grammar": "the [MASK] sleeps"}.get(name, "a b c")
    whole = trace(model, given)
    count = whole.output.values.shape[-1]
    usual = target_in(model, whole, None).position
    for position in (usual, 1):
        for id in range(count):
            text = text_of(model, whole, Target(id, position))
            found = target_in(model, whole, text)
            assert (found.id, found.position) == (id, position), text
    texts = [text_of(model, whole, Target(id, usual)) for id in range(count)]
    assert len(set(texts)) == count


def test_a_name_is_a_word_of_the_vocabulary() -> None:
    model: Any = load("grammar")
    whole = trace(model, "the [MASK] sleeps")
    word = name_of(model, whole.output, 140)
    assert word == "the"
    assert target_in(model, whole, "the").id == 140
    numbered = target_in(model, whole, "3.140")
    assert (numbered.position, numbered.id) == (3, 140)
    with pytest.raises(ValueError, match="'sleeps' is not in the vocabulary"):
        target_in(model, whole, "sleeps")
    with pytest.raises(ValueError, match="expected one token, 'the the' is 2"):
        target_in(model, whole, "the the")
    with pytest.raises(ValueError, match="expected a position 0 to 4, received 9"):
        target_in(model, whole, "the@9")


def test_classes_are_classes_and_numbers_are_nothing() -> None:
    model = load(ViTConfig(image=12, patch=4, dim=20, heads=2, depth=1, mlp=13, classes=3))
    named = replace(model, classes=("neg", "neu", "pos@3"))
    whole = trace(named, torch.zeros(1, 3, 12, 12))
    assert kind_of(whole.output) == "classes"
    assert [text_of(named, whole, Target(id)) for id in range(3)] == ["neg", "neu", "pos@3"]
    assert target_in(named, whole, "pos@3").id == 2
    assert kind_of(Output("last feature map", torch.zeros(1, 2, 3, 4))) == "nothing"
    assert kind_of(trace(load("minilm"), "a cat").output) == "similarity"
