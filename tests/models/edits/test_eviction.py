"""Caches of limited size: against a cache that is simulated key by key."""

from math import exp
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from models.attention.relative import rotary_angles, rotate
from models.catalogue import folder
from models.decoder import DecoderConfig
from models.edits import Ablate, Evict
from models.edits.text import format_edits, parse_edits
from models.encoder import EncoderConfig
from models.run import load, trace
from models.trace import Trace
from tests.fetched import fetched
from tests.models.pretrained.tiny import BY_NAME, padded

SIZES: dict[str, Any] = {"dim": 30, "depth": 2, "heads": 3, "mlp": 17, "vocab": 31}
IDS = torch.randint(3, 31, (1, 13), generator=torch.Generator().manual_seed(2))
DRINK = "When Mary and John went to the store, John gave a drink to"
MARY = 5099  # its id in SmolLM2's vocabulary
ROTARY = DecoderConfig(**SIZES, positions="rotary", kv_heads=1, rotary_base=50.0)
POLICIES: dict[str, dict[str, Any]] = {
    "window": {"window": 4},
    "sinks and window": {"window": 3, "sinks": 2},
    "heavy hitters": {"window": 2, "heavy": 3},
    "all of them": {"window": 2, "sinks": 1, "heavy": 2},
    "after a prompt": {"window": 2, "sinks": 1, "heavy": 2, "start": 7},
    "a window after a prompt": {"window": 2, "start": 5},
    "one key": {"window": 1},
    "room for all": {"window": 13},
}


def simulated(q: Tensor, k: Tensor, score: Any, policy: dict[str, Any]) -> Tensor:
    """The weights of one head: a cache holds keys; each step adds one, attends, and evicts."""
    window, sinks = policy["window"], policy.get("sinks", 0)
    heavy, start = policy.get("heavy", 0), policy.get("start", 0)
    cache: list[int] = []
    mass, rows = dict.fromkeys(range(len(k)), 0.0), torch.zeros(len(q), len(k))
    for step in range(len(q)):
        cache.append(step)
        if step >= start:
            fixed = [key for key in cache if key < sinks or step - key < window]
            others = sorted((key for key in cache if key not in fixed), key=lambda key: -mass[key])
            cache = sorted([*fixed, *others[:heavy]])
        numbers = [exp(score(q, k, step, key, cache)) for key in cache]
        for key, number in zip(cache, numbers, strict=True):
            rows[step, key] = number / sum(numbers)
            mass[key] += number / sum(numbers)
    return rows


def plain_score(q: Tensor, k: Tensor, step: int, key: int, cache: list[int]) -> float:
    return float(q[step] @ k[key]) / q.shape[1] ** 0.5


def first_layer(t: Trace, head: int) -> tuple[Tensor, Tensor]:
    pattern = t.pattern(0)
    return pattern.q[0, head], pattern.k[0, head // (pattern.heads // pattern.k.shape[1])]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["own", "Llama", "GPT-2"])
def test_weights_are_those_of_a_simulated_cache(name: str, policy: str) -> None:
    model = load(DecoderConfig(**SIZES)) if name == "own" else load(BY_NAME[name].build())
    t = trace(model, IDS, edits=[Evict(**POLICIES[policy])])
    for head in range(t.sites[0].heads):
        expected = simulated(*first_layer(t, head), plain_score, POLICIES[policy])
        torch.testing.assert_close(t.weights(0, head), expected, rtol=1e-4, atol=1e-6)
    # every layer obeys: as many keys as there is room for
    room = sum(POLICIES[policy].get(each, 0) for each in ("window", "sinks", "heavy"))
    if "start" not in POLICIES[policy]:
        assert ((t.weights(1) > 0).sum(-1) <= room).all()
    torch.testing.assert_close(t.weights(1).sum(-1), torch.ones(t.sites[1].heads, 13))
    plain = trace(model, IDS)
    changed = (t.output.values - plain.output.values).abs().max() > 1e-5
    assert bool(changed) == (policy != "room for all")


@pytest.mark.parametrize("policy", POLICIES)
def test_kept_keys_are_rotated_by_their_place_in_the_cache(policy: str) -> None:
    """Queries and keys are rotated anew for every step, from before they were rotated at all."""
    model = load(ROTARY)
    network: Any = model.network
    t = trace(model, IDS, hidden=True, edits=[Evict(**POLICIES[policy], rotate=50.0)])
    block = network.blocks[0]
    x = block.before_attention(t.hidden(0)).detach()
    q = block.attention.query(x).detach().unflatten(1, (3, 10))
    k = block.attention.key(x).detach()

    def score(q: Tensor, k: Tensor, step: int, key: int, cache: list[int]) -> float:
        places = torch.tensor([len(cache) - 1, cache.index(key)])
        turned = rotate(
            torch.stack([q[step], k[key]])[None, None], rotary_angles(places, 10, base=50.0)
        )
        return float(turned[0, 0, 0] @ turned[0, 0, 1]) / 10**0.5

    for head in range(3):
        expected = simulated(q[:, head], k, score, POLICIES[policy])
        torch.testing.assert_close(t.weights(0, head), expected, rtol=1e-4, atol=1e-6)


def test_padding_has_no_place_in_the_cache() -> None:
    network = BY_NAME["Llama"].build()
    edit = Evict(2, sinks=1, heavy=1, rotate=10_000.0)
    for left in (False, True):
        inputs = padded(2, 9, 3, left=left)
        own = inputs["input_ids"][1:, 3:] if left else inputs["input_ids"][1:, :6]
        both, alone = trace(network, inputs, edits=[edit]), trace(network, own, edits=[edit])
        for site in alone.sites:
            found = both.weights(site.layer, item=1)
            torch.testing.assert_close(found, alone.weights(site), rtol=1e-4, atol=1e-6)


def test_other_edits_keep_their_part() -> None:
    model = load(DecoderConfig(**SIZES))
    t = trace(model, IDS, edits=[Evict(3), Ablate(1, 0)])
    assert not t.effective_weights(t.sites[1], 0).any()
    alone = trace(model, IDS, edits=[Evict(3)])
    assert t.weights(0).equal(alone.weights(0))


def test_sentences_and_text_come_back() -> None:
    edit = Evict(8, sinks=4, heavy=2, start=20, rotate=100_000.0)
    assert edit.describe() == (
        "Every layer (causal attention): queries from query 20 on find only these keys in the"
        " cache: the latest 8, the first 4, the 2 others with most weight so far, rotated anew by"
        " their place in the cache."
    )
    assert parse_edits(format_edits([edit])) == (edit,)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"window": 0}, "window: expected 1 or more"),
        ({"window": 2, "sinks": -1}, "sinks: expected 0 or more"),
        ({"window": 2, "rotate": 0.5}, "rotate: expected a base above 1"),
        ({"window": 2, "width": 3}, "width: expected an even number"),
        ({"window": 2, "kind": "self"}, "kind: expected causal"),
    ],
)
def test_what_is_no_policy_is_refused(given: dict[str, Any], line: str) -> None:
    with pytest.raises(ValueError, match=line):
        Evict(**given)


def test_networks_without_a_cache_are_refused() -> None:
    with pytest.raises(ValueError, match="causal"):
        trace(load(EncoderConfig(**SIZES)), IDS, edits=[Evict(2)])
    capped = BY_NAME["Gemma 2"]
    with pytest.raises(ValueError, match="without a cap"):
        trace(capped.build(), IDS, edits=[Evict(2, sinks=1, rotate=10_000.0)])


@pytest.mark.long
@pytest.mark.parametrize(
    ("window", "sinks", "share"),
    [(14, 0, 0.92), (8, 1, 0.08), (8, 2, 0.84)],  # with one sink “Mary” is gone when it is needed
)
def test_what_a_small_cache_forgets(window: int, sinks: int, share: float) -> None:
    """Who gets the drink, in SmolLM2: against the library's own pass with an explicit mask."""
    known = fetched("smollm2")
    t = trace(load(known.name), DRINK, edits=[Evict(window, sinks=sinks)])
    ids = torch.tensor([t.tokens[0].ids])
    own = AutoModelForCausalLM.from_pretrained(
        folder(known), dtype=torch.float32, attn_implementation="eager"
    )
    query, key = torch.arange(ids.shape[1])[:, None], torch.arange(ids.shape[1])
    is_kept = (key <= query) & ((key < sinks) | (query - key < window))
    mask = torch.where(is_kept, 0.0, torch.finfo(torch.float32).min)[None, None]
    with torch.no_grad():
        expected = own(ids, attention_mask=mask).logits[0, -1].softmax(-1)
    found = t.output.values[0, -1].softmax(-1)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-6)
    assert float(found[MARY]) == pytest.approx(share, abs=0.006)
