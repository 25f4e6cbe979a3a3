"""Analyses of padded, batched, cached, packed and masked passes, against the same tokens alone.

Every number of a head is compared with loops over the keys that each query sees by the rule of the
pass, every method over the whole model with the same item traced by itself.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from analysis.flow import flow
from analysis.heads import heads
from analysis.measures import MEASURES
from analysis.norms import alti, value_norms
from analysis.rollout import rollout
from analysis.split import split
from analysis.stages import stages
from analysis.view import View
from models.edits import Cut
from models.run import load, trace
from models.trace import Trace
from tests.analysis.slow_heads import slow_numbers
from tests.models.architectures import BY_NAME, build
from tests.models.architectures import SIZES as LIBRARY

TOKENS, DOCUMENT, CHUNK, WINDOW = 11, 5, 4, 3
IDS = torch.tensor([[7, 5, 9, 7, 5, 11, 7, 23, 5, 9, 7]])
SHORT = IDS[:, :7]
OF_MATRICES = ("copying", "copying of tokens", "matching")
Seen = Callable[[int, int], bool]


def causal(i: int, j: int) -> bool:
    return j <= i


def in_document(i: int, j: int) -> bool:
    return j <= i and i // DOCUMENT == j // DOCUMENT


def in_chunk(i: int, j: int) -> bool:
    return j <= i and i // CHUNK == j // CHUNK


def in_window(i: int, j: int) -> bool:
    return 0 <= i - j < WINDOW


def after_prefix(i: int, j: int) -> bool:
    return j <= i or max(i, j) < DOCUMENT


def every(i: int, j: int) -> bool:
    return True


class Pass(NamedTuple):
    """A pass and its rule.

    Attributes:
        model: of the library.
        inputs: of its forward; a number of cached tokens stands for their cache.
        seen: whether a query sees a key, by their places in the text.
        only: the layer and head that the rule holds for; None for all.
        edits: of the pass.
    """

    model: str
    inputs: dict[str, Any]
    seen: Seen
    only: tuple[int, int] | None = None
    edits: tuple[Any, ...] = ()


SIZES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Llama 4": (
        "Llama4ForCausalLM",
        "Llama4TextConfig",
        {
            **LIBRARY["grouped"],
            **LIBRARY["experts"],
            "head_dim": 8,
            "attention_chunk_size": CHUNK,
            "pad_token_id": 0,
            "num_local_experts": 2,
            "intermediate_size_mlp": 20,
        },
    ),
    "Mistral": (
        "MistralForCausalLM",
        "MistralConfig",
        {**LIBRARY["grouped"], "sliding_window": WINDOW},
    ),
}
POSITIONS = torch.arange(TOKENS)[None]
PREFIX = torch.tensor([[[[after_prefix(i, j) for j in range(TOKENS)] for i in range(TOKENS)]]])
PASSES = {
    "causal": Pass("Llama", {"input_ids": IDS}, causal),
    "encoder": Pass("BERT", {"input_ids": IDS}, every),
    "packed": Pass("Llama", {"input_ids": IDS, "position_ids": POSITIONS % DOCUMENT}, in_document),
    "prefix": Pass("Llama", {"input_ids": IDS, "attention_mask": PREFIX}, after_prefix),
    "chunks": Pass("Llama 4", {"input_ids": IDS}, in_chunk),
    "window": Pass("Mistral", {"input_ids": IDS}, in_window),
    "sink": Pass("GPT-OSS", {"input_ids": IDS}, causal, only=(1, 2)),
    "cut": Pass(
        "Llama",
        {"input_ids": IDS},
        lambda i, j: j <= i and not (i % 2 and j in (0, i - 1)),
        only=(1, 2),
        edits=(Cut(1, 2, (1, 3, 5, 7, 9), 0), *(Cut(1, 2, i, i - 1) for i in (1, 3, 5, 7, 9))),
    ),
}


@cache
def model(name: str) -> Any:
    return load(build(*SIZES[name]) if name in SIZES else BY_NAME[name].build())


@cache
def traced(name: str) -> Trace:
    each = PASSES[name]
    return trace(model(each.model), each.inputs, edits=each.edits)


def expected(name: str, weights: Tensor, sinks: Tensor | None = None) -> dict[str, float]:
    each = PASSES[name]
    seen = [[j for j in range(TOKENS) if each.seen(i, j)] for i in range(TOKENS)]
    names = [str(id) for id in IDS[0].tolist()]
    return slow_numbers(
        weights,
        names,
        [False] * TOKENS,
        seen,
        causal=each.seen not in (every, after_prefix),
        sinks=sinks,
    )


@pytest.mark.parametrize("name", PASSES)
def test_every_number_of_a_head_is_over_the_keys_that_its_queries_see(name: str) -> None:
    t, layer_and_head = traced(name), PASSES[name].only
    for shown in (t, View(t, words=False)):
        found = heads(shown)
        assert set(found) == {measure.key for measure in MEASURES}
        for row, site in enumerate(t.sites):
            for head in range(site.heads):
                if layer_and_head not in (None, (site.layer, head)):
                    continue
                sinks = 1 - t.weights(site, head).sum(-1) if name == "sink" else None
                numbers = expected(name, t.weights(site, head), sinks)
                assert {*numbers, *OF_MATRICES} == set(found)
                for key, number in numbers.items():
                    own = float(found[key][row, head])
                    # float32: a spread is the root of a difference of two sums
                    near = pytest.approx(number, rel=1e-4, abs=1e-5, nan_ok=True)
                    assert own == near, (key, row, head)
        for measure in MEASURES:
            numbers = found[measure.key]
            numbers = numbers[~numbers.isnan()]
            assert (numbers >= measure.low - 1e-5).all()
            assert measure.high is None or (numbers <= measure.high + 1e-5).all()


# --- batches and padding against the item alone ---------------------------------------------------


def last(t: Trace, item: int) -> int:
    return len(t.query_labels(t.sites[0], item)) - 1


def of_sites(t: Trace, item: int, analysis: Callable[..., Any]) -> Tensor:
    return torch.stack([analysis(t, site, item=item) for site in t.sites])


METHODS: dict[str, Callable[[Trace, int], Tensor]] = {
    "rollout": lambda t, item: rollout(t, item=item),
    "alti": lambda t, item: alti(t, item=item),
    "norms": lambda t, item: of_sites(t, item, value_norms),
    "flow": lambda t, item: flow(t, last(t, item), item=item),
    "heads": lambda t, item: torch.stack([*heads(t, item=item).values()]).nan_to_num(-9.0),
    "stages": lambda t, item: of_sites(
        t, item, lambda t, site, item: stages(t, site, 1, 3, item=item).output
    ),
    "split": lambda t, item: torch.tensor(
        [share.value for share in split(t, t.sites[-1], 1, 5, 2, item=item).query]
    ),
}
PADDED = [
    (name, side) for name in ("Llama", "BERT", "GPT-2") for side in ("left", "right", "batch")
]


@cache
def alone(name: str, method: str) -> Tensor:
    return METHODS[method](traced_alone(name), 0)


@cache
def traced_alone(name: str) -> Trace:
    return trace(model(name), {"input_ids": SHORT}, hidden=True)


def beside(side: str) -> dict[str, Tensor]:
    """The short text as the second item of a batch."""
    if side == "batch":
        return {"input_ids": torch.cat([IDS[:, 4:], SHORT])}
    missing = TOKENS - SHORT.shape[1]
    padding = (missing, 0) if side == "left" else (0, missing)
    ids = torch.nn.functional.pad(SHORT, padding)
    shown = torch.nn.functional.pad(torch.ones_like(SHORT), padding)
    inputs = {
        "input_ids": torch.cat([IDS, ids]),
        "attention_mask": torch.cat([torch.ones_like(IDS), shown]),
    }
    if side == "left":  # positions count from the first token, as they do without padding
        inputs["position_ids"] = (inputs["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    return inputs


@cache
def traced_beside(name: str, side: str) -> Trace:
    return trace(model(name), beside(side), hidden=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "side"), PADDED)
def test_an_item_of_a_batch_is_as_it_is_alone(name: str, side: str, method: str) -> None:
    found = METHODS[method](traced_beside(name, side), 1)
    assert not math.isnan(float(found.sum()))
    torch.testing.assert_close(found, alone(name, method), rtol=1e-3, atol=1e-4)
