"""Scores unfolded to tokens: sums of every branch, one by hand, and checks against passes."""

from typing import Any

import pytest
import torch

from analysis.split import split
from analysis.unfold import Branch, check_edges, unfold
from models.decoder import DecoderConfig
from models.edits import Cut
from models.encoder import EncoderConfig
from models.run import load, trace
from models.trace import Trace
from tests.models.pretrained.tiny import BY_NAME

SIZES: dict[str, Any] = {"dim": 21, "depth": 3, "heads": 3, "mlp": 17, "vocab": 31}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])
MODELS: dict[str, Any] = {
    "decoder": lambda: load(DecoderConfig(**SIZES)),
    "rotary": lambda: load(DecoderConfig(**SIZES, positions="rotary", head_dim=4, norm_kind="rms")),
    "post-norm": lambda: load(EncoderConfig(**SIZES, norm="post")),
    "Llama": lambda: load(BY_NAME["Llama"].build()),
    "GPT-2": lambda: load(BY_NAME["GPT-2"].build()),
}


def last_site(t: Trace) -> Any:
    return t.sites[-1]


@pytest.mark.parametrize("side", ["query", "key"])
@pytest.mark.parametrize("name", MODELS)
def test_branches_sum_to_their_node(name: str, side: Any) -> None:
    t = trace(MODELS[name](), IDS)
    site = last_site(t)
    root = unfold(t, site, 1, 4, 2, side=side, depth=2, width=2)
    plain = split(t, site, 1, 4, 2)
    assert root.value == pytest.approx(plain.score, abs=1e-4)
    shares = dict(plain.query if side == "query" else plain.key)
    assert {each.name for each in root.branches} == set(shares)
    for branch in root.branches:
        assert branch.value == pytest.approx(shares[branch.name], abs=1e-4)
    for node in root.walk():
        if node.branches:
            total = sum(branch.value for branch in node.branches)
            assert total == pytest.approx(node.value, abs=1e-5)
    heads = [each for each in root.branches if "head" in each.name and each.branches]
    assert len(heads) == 2
    for each in heads:
        assert len(each.branches) == 6
        opened = [token for token in each.branches if token.branches]
        assert len(opened) == 2
        layers = {int(each.name.split()[1].rstrip(",")) for each in heads}
        assert layers <= set(range(site.layer))


@torch.no_grad()
def test_a_token_of_a_head_by_hand() -> None:
    """A v W_O at the key, through the norm of the reading layer, its W_K, and the query."""
    model = MODELS["decoder"]()
    t = trace(model, IDS, hidden=True)
    network: Any = model.network
    root = unfold(t, 2, 1, 4, 3, depth=1, width=9)
    first, own, reads = t.pattern(1), t.pattern(2), network.blocks[2]
    deviation = (t.hidden(2)[3].var(unbiased=False) + 1e-5).sqrt()
    head = next(each for each in root.branches if each.name == "layer 1, head 2")
    for token in head.branches:
        source = token.token
        value = t.weights(1, 2)[3, source] * first.v[0, 2, source]
        written = network.blocks[1].attention.out.weight[:, 14:] @ value
        normed = (written - written.mean()) / deviation * reads.before_attention.weight
        key = reads.attention.key.weight[7:14] @ normed
        assert token.value == pytest.approx(float(own.q[0, 1, 4] @ key) / 7**0.5, abs=1e-5)
        assert token.edge == (1, 2, 3, source)


def test_checks_are_passes_with_the_edge_cut() -> None:
    model = MODELS["decoder"]()
    t = trace(model, IDS)
    root = unfold(t, 2, 1, 4, 2, depth=1, width=1)
    found = check_edges(
        root,
        lambda t: float(t.scores(2, 1)[4, 2]),
        lambda edits: trace(model, IDS, edits=edits),
        Cut,
    )
    edges = [node for node in found.walk() if node.edge is not None]
    assert len(edges) == 6
    for node in edges:
        assert node.edge is not None
        cut = trace(model, IDS, edits=[Cut(*node.edge)])
        assert node.after == float(cut.scores(2, 1)[4, 2])
    assert all(node.after is None for node in found.walk() if node.edge is None)
    assert isinstance(found, Branch)


def test_what_cannot_be_unfolded_is_refused_by_name() -> None:
    gemma = BY_NAME["Gemma 2"]
    t = trace(gemma.build(), IDS)
    with pytest.raises(ValueError, match=r"layer 0, head \d: expected it to be added"):
        unfold(t, 1, 0, 4, 2)
