"""`verify` against the library's own eager attention: what holds, and what it finds."""

import re
from collections import UserDict
from dataclasses import replace
from typing import Any

import pytest
import torch

from benchmarks.architectures import GROUPED, TEXT, text
from models.attention import Pattern
from models.inputs import pretrained
from models.pretrained import interface, masks, recording, verification
from models.pretrained.packed import Packing
from models.pretrained.sources import Sources
from models.pretrained.windows import Blocks
from models.verify import Verdict, verify
from tests.models.pretrained.tiny import (
    BY_NAME,
    CHOSEN_KEYS,
    LATENT,
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
    assert found.edited is not None
    assert found.edited < 1e-5 * max(1.0, found.largest)
    assert found.unseen == ()
    assert found.problems(ROUNDING) == ()
    assert not any(part._forward_hooks for part in model.modules())
    config: Any = model.config
    assert config._attn_implementation == "sdpa"


def sparse() -> tuple[Any, dict[str, Any]]:
    sizes = LATENT | CHOSEN_KEYS
    return build("DeepseekV32ForCausalLM", "DeepseekV32Config", sizes), text()


def states() -> tuple[Any, dict[str, Any]]:
    given = {**padded(2, 9, 3, left=False), "encoder_hidden_states": normal(2, 9, 30)}
    return bert_decoder(), given


def low_row() -> tuple[Any, dict[str, Any]]:
    given = {"input_ids": ids(2, 9), "attention_mask": torch.zeros(2, 1, 9, 9)}
    given["attention_mask"][0, 0, 3] = torch.finfo(torch.float32).min
    return BY_NAME["BERT"].build(), given


def differential() -> tuple[Any, dict[str, Any]]:
    sizes = {**GROUPED, "num_attention_heads": 4}
    return build("DiffLlamaForCausalLM", "DiffLlamaConfig", sizes), text()


def packed() -> tuple[Any, dict[str, Any]]:
    return qwen("Qwen2_5_VL"), images_in_text()


@pytest.mark.parametrize("make", [sparse, states, low_row, differential, packed])
def test_what_was_once_wrong_holds(make: Any) -> None:
    found = verify(*make())
    assert found.problems(ROUNDING) == ()
    assert found.compared > 0
    assert found.edited is not None or make is sparse


@pytest.mark.parametrize("family", ["Qwen2VL", "Qwen2_5_VL"])
def test_maps_of_packed_images_are_compared_too(family: str) -> None:
    found = verify(qwen(family), images_in_text())
    assert found.compared == 2 * 3 + 2 * 6  # layers and heads of the vision tower and the decoder
    assert found.maps < 1e-5


def test_segments_that_are_no_items() -> None:
    packing = Packing.of(torch.tensor([0, 2, 5, 7]), [5, 2])
    maps = [torch.rand(1, 3, size, size) for size in (2, 3, 2)]
    whole = packing.unpack_maps(maps)
    assert whole is not None
    assert whole.shape == (2, 3, 5, 5)
    for item, start, part in ((0, 0, maps[0]), (0, 2, maps[1]), (1, 0, maps[2])):
        own = slice(start, start + part.shape[-1])
        assert whole[item, :, own, own].equal(part[0])
    assert whole.sum() == pytest.approx(float(sum(part.sum() for part in maps)), rel=1e-6)
    assert packing.unpack_maps(maps[:2]) is None
    assert packing.unpack_maps([maps[0], maps[0], maps[1]]) is None


def as_tokens(self: Sources, states: torch.Tensor, queries: str | None) -> str | None:
    return queries


@pytest.mark.parametrize(
    ("make", "owner", "name", "instead", "message"),
    [
        (sparse, interface, "choose_keys", lambda mask, *_: mask, "off by .*library’s own"),
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
        (
            differential,
            recording.Recording,
            "entry",
            lambda self, module: recording.Entry(self.modules.of(module), module, "other", 0),
            "left no map",
        ),
    ],
    ids=["sparse", "low row", "states", "packed", "differential"],
)
def test_a_fault_is_found(
    make: Any, owner: Any, name: str, instead: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, instead)
    problems = verify(*make()).problems(ROUNDING)
    assert problems
    assert re.search(message, "; ".join(problems))


def test_items_that_are_no_windows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three images beside one text are three items."""
    model = BY_NAME["CLIP"].build()
    given = {name: value[:1] for name, value in text().items()}
    given["pixel_values"] = normal(3, 3, 20, 20)
    assert verify(model, given).problems(ROUNDING) == ()

    def always(self: recording.Recording, entry: recording.Entry, recipe: Any) -> Blocks | None:
        count, rest = divmod(recipe.batch, self.items)
        cut = not rest and count > 1 and recipe.queries == recipe.keys
        return Blocks.in_order(count, recipe.queries) if cut else None

    monkeypatch.setattr(recording.Recording, "blocks", always)
    (problem,) = verify(model, given).problems(ROUNDING)
    assert re.match(r"items of vision_model\.encoder\.layers\.0\.self_attn, .* windows", problem)


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


def test_keys_that_rounding_chooses() -> None:
    """In bfloat16 the indexer may choose others with other kernels, the library's among them."""
    sizes = LATENT | CHOSEN_KEYS | {"first_k_dense_replace": 2, "v_head_dim": 10, "index_topk": 5}
    for seed in range(3):
        model = build("GlmMoeDsaForCausalLM", "GlmMoeDsaConfig", sizes, seed)
        found = verify(model.to(torch.bfloat16), ids(2, 23))
        assert found.traced == 0.0
        assert found.values is not None
        assert found.values < 2e-2
        assert found.problems(5e-2) == ()


def test_what_counts_where_the_library_disagrees() -> None:
    fine = Verdict(1e-6, 1.0, 6, 144, 6, 1.0, 1e-6, None, values=1e-6, eager=1.0)
    assert fine.problems(1e-4) == ()
    (one,) = replace(fine, traced=1e-3).problems(1e-4)
    assert one == "a weight is 1.0e+00 off the library’s own"
    assert len(replace(fine, values=1e-3).problems(1e-4)) == 2
    assert replace(fine, difference=1.0, eager=None).problems(1e-4) == ()
    assert len(replace(fine, eager=1e-5).problems(1e-4)) == 1
    assert len(replace(fine, difference=1.0, values=None).problems(1e-4)) == 2


def test_values_that_the_weights_do_not_give_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "values_of", lambda pattern, dropout: (2 * pattern.q, ""))
    found = verify(BY_NAME["BERT"].build(), {"input_ids": ids(2, 7)})
    assert found.values is not None
    assert found.values > 0.1
    assert found.problems(ROUNDING)


def test_problems_are_more_than_rounding() -> None:
    fine = Verdict(1e-5, 1.0, 6, 144, 6, 1e-5, 1e-6, 1e-5)
    assert fine.problems(1e-4) == ()
    assert len(Verdict(1e-3, 1.0, 6, 144, 6, 1e-3, 1e-3, 1e-3, ("a",)).problems(1e-4)) == 5
