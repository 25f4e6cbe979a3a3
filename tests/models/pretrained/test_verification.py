"""`verify` against the library's own eager attention: what holds, and what it finds."""

import re
from typing import Any

import pytest
import torch

from benchmarks.architectures import GROUPED, text
from models.attention import Pattern
from models.pretrained import interface, masks, recording
from models.pretrained.packed import Packing
from models.pretrained.sources import Sources
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
            "off by",
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


def test_problems_are_more_than_rounding() -> None:
    fine = Verdict(1e-5, 1.0, 6, 144, 6, 1e-5, 1e-6, 1e-5)
    assert fine.problems(1e-4) == ()
    assert len(Verdict(1e-3, 1.0, 6, 144, 6, 1e-3, 1e-3, 1e-3, ("a",)).problems(1e-4)) == 5
