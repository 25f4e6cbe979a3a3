"""Direct logit attribution: sums, and single parts written out by hand."""

from typing import Any

import pytest
import torch

from analysis.attribution import logit_attribution
from models.attention import Mask
from models.run import load, trace
from models.trace import Trace
from tests.analysis.test_lens import IDS, LIBRARY, MORE, OWN, traced
from tests.models.architectures import BY_NAME, TEXT, build, ids

REFUSED = {"translator": "recurrent"}
WHOLE = [name for name in (*OWN, *LIBRARY, *MORE) if name not in REFUSED]
MATCHING = 1e-4  # relative, as promised


def check(t: Trace, query: int = -1, item: int = 0) -> dict[str, float]:
    """Parts sum to the logit, and to the difference of two; returns those of the first."""
    logits = t.output.row(query, item).double()
    first, second = (logit_attribution(t, each, query=query, item=item) for each in (3, 11))
    for token, parts in ((3, first), (11, second)):
        size = max(abs(float(logits[token])), sum(map(abs, parts.values())))
        assert sum(parts.values()) == pytest.approx(float(logits[token]), abs=MATCHING * size)
    difference = logit_attribution(t, 3, query=query, versus=11, item=item)
    size = sum(map(abs, difference.values()))
    expected = float(logits[3] - logits[11])
    assert sum(difference.values()) == pytest.approx(expected, abs=MATCHING * size)
    for name, value in difference.items():
        assert value == pytest.approx(first[name] - second[name], abs=1e-6)
    return first


@pytest.mark.parametrize("name", WHOLE)
def test_parts_sum_to_the_logit(name: str) -> None:
    t = traced(name)
    parts = check(t)
    check(t, query=1)
    own = [site for site in t.sites if site.tower == t.sites[-1].tower]
    names = [name for name in parts if "head" in name]
    assert len(names) == sum(site.heads for site in own)
    assert sum("MLP" in name for name in parts) == len({site.layer for site in own})


@torch.no_grad()
def test_parts_by_hand() -> None:
    """Pre-norm: (part − mean) / deviation of the whole · γ · u."""
    model = load(OWN["pre"])
    t = trace(model, IDS, hidden=True)
    network: Any = model.network
    place, token = 4, 7
    last = t.hidden(3)[place]
    deviation = (last.var(unbiased=False) + 1e-5).sqrt()
    row = network.embedding.tokens.weight[token]
    block, x = network.blocks[2], t.hidden(2)
    pattern = t.pattern(2)
    head = block.attention.out.weight[:, 7:14] @ (t.weights(2, 1)[place] @ pattern.v[0, 1])
    attended = x + block.attention(block.before_attention(x[None]), mask=Mask(causal=True))[0][0]
    mlp = (t.hidden(3) - attended)[place]
    found = logit_attribution(t, token, query=place)
    for name, part in (("layer 2, head 1", head), ("layer 2, MLP", mlp)):
        share = (part - part.mean()) / deviation * network.norm.weight @ row
        assert found[name] == pytest.approx(float(share), abs=1e-5)


def test_what_cannot_be_divided_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="this decoder is recurrent"):
        logit_attribution(traced("translator"), 3)
    masked = trace(build("BertForMaskedLM", "BertConfig", TEXT), {"input_ids": ids(1, 9)})
    with pytest.raises(ValueError, match=r"cls\.predictions\.transform"):
        logit_attribution(masked, 3)
    deep = BY_NAME["DeepSeek-V3"]
    with pytest.raises(ValueError, match=r"layers\.\d\.self_attn: expected"):
        logit_attribution(trace(deep.build(), deep.inputs()), 3)
    with pytest.raises(ValueError, match="token: expected 0 to 30"):
        logit_attribution(trace(load(OWN["pre"]), IDS), 31)
