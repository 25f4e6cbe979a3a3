"""`verify` against the library's own eager attention: what holds, and what it finds."""

import re
from collections import UserDict
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
import transformers
from PIL import Image

from models.attention import Pattern
from models.inputs import pretrained
from models.inputs.pretrained import prepare_inputs
from models.pretrained import masks, verification
from models.pretrained.packed import Packing
from models.pretrained.sources import Sources
from models.run import as_model, load
from models.verify import Verdict, verify
from tests.models.architectures import TEXT
from tests.models.pretrained.tiny import (
    BY_NAME,
    bert_decoder,
    build,
    ids,
    images_in_text,
    normal,
    padded,
    qwen,
)

ROUNDING = 1e-4  # float32 through a whole network
HEADS = {"BERT": 6, "Llama": 12, "T5": 30, "BART": 26, "Swin": 10, "Whisper": 26, "CLIP": 12}
HEADS["ALBERT"] = 6


@pytest.mark.parametrize("name", HEADS)
def test_every_map_is_the_library_s(name: str) -> None:
    model = BY_NAME[name].build()
    found = verify(model, BY_NAME[name].inputs())
    assert found.compared == HEADS[name]
    assert found.maps < 1e-5
    assert found.sums < 1e-5
    assert found.unseen == ()
    assert found.problems(ROUNDING) == ()
    assert not any(part._forward_hooks for part in model.modules())
    config: Any = model.config
    assert config._attn_implementation == "sdpa"


def states() -> tuple[Any, dict[str, Any]]:
    given = {**padded(2, 9, 3, left=False), "encoder_hidden_states": normal(2, 9, 30)}
    return bert_decoder(), given


def low_row() -> tuple[Any, dict[str, Any]]:
    given = {"input_ids": ids(2, 9), "attention_mask": torch.zeros(2, 1, 9, 9)}
    given["attention_mask"][0, 0, 3] = torch.finfo(torch.float32).min
    return BY_NAME["BERT"].build(), given


def packed() -> tuple[Any, dict[str, Any]]:
    return qwen("Qwen2_5_VL"), images_in_text()


@pytest.mark.parametrize("make", [states, low_row, packed])
def test_what_was_once_wrong_holds(make: Any) -> None:
    found = verify(*make())
    assert found.problems(ROUNDING) == ()
    assert found.compared > 0


@pytest.mark.parametrize("family", ["Qwen2VL", "Qwen2_5_VL"])
def test_maps_of_packed_images_are_compared_too(family: str) -> None:
    found = verify(qwen(family), images_in_text())
    assert found.compared == 2 * 3 + 2 * 6  # layers and heads of the vision tower and the decoder
    assert found.maps < 1e-5


def as_tokens(self: Sources, states: torch.Tensor, queries: str | None) -> str | None:
    return queries


@pytest.mark.parametrize(
    ("make", "owner", "name", "instead", "message"),
    [
        (low_row, masks, "_even_rows", lambda *_: None, "off by .*library’s own"),
        (states, Sources, "keys", as_tokens, "a row's sum is off 1 by"),
        (
            packed,
            Packing,
            "of",
            staticmethod(
                lambda edges, items: Packing(tuple(items), torch.zeros(int(edges[-1])).long())
            ),
            "off by .*library’s own",
        ),
    ],
    ids=["low row", "states", "packed"],
)
def test_a_fault_is_found(
    make: Any, owner: Any, name: str, instead: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, instead)
    problems = verify(*make()).problems(ROUNDING)
    assert problems
    assert re.search(message, "; ".join(problems))


def test_an_input_that_is_read_as_another_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = UserDict({"input_ids": ids(2, 7)})
    model = BY_NAME["BERT"].build()
    assert verify(model, given).problems(ROUNDING) == ()
    other = ids(2, 7, seed=8)
    monkeypatch.setattr(pretrained, "as_tensors", lambda _: {"input_ids": other})
    assert verify(model, given).problems(ROUNDING) == ("input_ids was not read as given",)


@pytest.mark.parametrize("row", [0, 130])
def test_one_row_that_does_not_sum_to_one_is_found(
    row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first block of rows as in the second."""
    whole = Pattern.weights

    def off(
        self: Pattern, head: int | None = None, rows: Any = None, *, item: int | None = None
    ) -> torch.Tensor:
        weights = whole(self, head, rows, item=item)
        if isinstance(rows, torch.Tensor):
            weights = torch.where((rows == row)[:, None], 0.9995 * weights, weights)
        return weights

    monkeypatch.setattr(Pattern, "weights", off)
    model: Any = BY_NAME["Llama"].build()
    model.config.max_position_embeddings = 131
    found = verify(model, ids(1, 131))
    assert found.sums == pytest.approx(5e-4, rel=0.01)


def test_the_library_disagrees_with_itself() -> None:
    """With eager attention this model is causal, with the fused one it is not: that is no fault."""
    model, given = build("Aimv2TextModel", "Aimv2TextConfig", TEXT), padded(2, 7, 0, left=False)
    found = verify(model, given)
    assert found.traced == 0.0
    assert found.values is not None
    assert found.values < 1e-5
    assert found.maps > 0.1
    assert found.ambiguous(ROUNDING)
    assert found.problems(ROUNDING) == ()


def test_what_counts_where_the_library_disagrees() -> None:
    fine = Verdict(1e-6, 1.0, 6, 144, 6, 1.0, 1e-6, values=1e-6, eager=1.0)
    assert fine.problems(1e-4) == ()
    (one,) = replace(fine, traced=1e-3).problems(1e-4)
    assert one == "a weight is 1.0e+00 off the library’s own"
    assert len(replace(fine, values=1e-3).problems(1e-4)) == 2
    assert replace(fine, difference=1.0, eager=None).problems(1e-4) == ()
    assert len(replace(fine, eager=1e-5).problems(1e-4)) == 1
    assert len(replace(fine, difference=1.0, values=None).problems(1e-4)) == 2


def test_values_that_the_weights_do_not_give_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "values_of", lambda pattern: 2 * pattern.q)
    found = verify(BY_NAME["BERT"].build(), {"input_ids": ids(2, 7)})
    assert found.values is not None
    assert found.values > 0.1
    assert found.problems(ROUNDING)


def test_problems_are_more_than_rounding() -> None:
    fine = Verdict(1e-5, 1.0, 6, 144, 6, 1e-5, 1e-6)
    assert fine.problems(1e-4) == ()
    assert len(Verdict(1e-3, 1.0, 6, 144, 6, 1e-3, 1e-3, ("a",)).problems(1e-4)) == 4


# --- its parts, by hand -------------------------------------------------------------------------

TOKENS = 5


@pytest.mark.parametrize("error", [ValueError, ImportError])
def test_a_model_without_eager_attention(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The maps are compared with nothing; the outputs are."""
    network = BY_NAME["BERT"].build()

    def refuse(*_: Any, **__: Any) -> None:
        raise error("no eager attention")

    monkeypatch.setattr(type(network), "set_attn_implementation", refuse)
    found = verify(network, ids(1, TOKENS))
    assert (found.compared, found.eager) == (0, None)
    assert found.maps == 0.0
    assert found.problems(ROUNDING) == ()


def test_a_network_that_another_thread_traces_is_verified() -> None:
    network: Any = BY_NAME["Llama"].build()
    states = network.get_input_embeddings()(ids(1, TOKENS))
    assert states.grad_fn is not None
    hold = partial(lambda held, *_: None, [states])  # as a hook that notes what a layer returns
    network.model.layers[0].register_forward_hook(hold)
    assert verify(network, ids(1, TOKENS)).problems(ROUNDING) == ()


def test_pixels_that_are_not_the_processor_s(tmp_path: Any) -> None:
    """Only of pictures, by a model that says how it wants them."""
    network: Any = BY_NAME["ViT"].build()
    network.save_pretrained(tmp_path)
    size = {"height": 20, "width": 20}
    transformers.ViTImageProcessor(size=size).save_pretrained(tmp_path)
    model = load(tmp_path, door="transformers")
    picture = Image.linear_gradient("L").resize((31, 23)).convert("RGB")
    for source in (picture, [picture, picture], {"pixel_values": picture}):
        inputs = prepare_inputs(model, source)
        assert verification._misread(model, source, inputs) == ()
        inputs.arguments["pixel_values"] = inputs.arguments["pixel_values"] + 0.5
        assert verification._misread(model, source, inputs) == ("pixel_values",)
        assert model.preprocessing is not None
        silent = replace(model, preprocessing=replace(model.preprocessing, processor=None))
        for other in (silent, replace(model, preprocessing=None)):
            assert verification._misread(other, source, inputs) == ()
    pixels = normal(1, 3, 20, 20)
    assert verification._misread(model, pixels, prepare_inputs(model, pixels)) == ()
    text = as_model(BY_NAME["BERT"].build())
    assert verification._misread(text, ids(1, 5), prepare_inputs(text, ids(1, 5))) == ()
