"""`verify` against the library's own eager attention: what holds, and what it finds."""

import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from models.pretrained import masks
from models.pretrained.sources import Sources
from models.pretrained.windows import Slots
from models.verify import Verdict, verify
from tests.models.architectures import (
    BY_NAME,
    TEXT,
    build,
    ids,
    normal,
    padded,
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
    return BY_NAME["BERT decoder"].build(), given


def low_row() -> tuple[Any, dict[str, Any]]:
    given = {"input_ids": ids(2, 9), "attention_mask": torch.zeros(2, 1, 9, 9)}
    given["attention_mask"][0, 0, 3] = torch.finfo(torch.float32).min
    return BY_NAME["BERT"].build(), given


def packed(name: str = "Qwen2.5-VL") -> tuple[Any, dict[str, Any]]:
    return BY_NAME[name].build(), BY_NAME[name].inputs()


@pytest.mark.parametrize(
    "make", [states, low_row, *(partial(packed, f"Qwen{each}-VL") for each in ("2", "2.5", "3"))]
)
def test_what_was_once_wrong_holds(make: Any) -> None:
    found = verify(*make())
    assert found.problems(ROUNDING) == ()
    assert found.compared > 0


def as_tokens(self: Sources, states: torch.Tensor, queries: str | None) -> str | None:
    return queries


def unbounded(boundaries: torch.Tensor, items: Any, of: Any = Slots.of_sequence) -> Slots:
    found = of(boundaries, items)
    return replace(found, segment=torch.zeros_like(found.segment))


@pytest.mark.parametrize(
    ("make", "owner", "name", "instead", "message"),
    [
        (
            low_row,
            masks,
            "_even_rows",
            lambda x, _: torch.zeros_like(x).bool(),
            "off by .*library’s own",
        ),
        (states, Sources, "keys", as_tokens, "a row's sum is off 1 by"),
        (packed, Slots, "of_sequence", staticmethod(unbounded), "off by .*library’s own"),
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
