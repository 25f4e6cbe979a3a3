"""Scores split over what wrote them: the sums, and single shares written out by hand."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.split import Split, split
from models.attention import Bilinear, Mask
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.model import Config
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.trace import Trace
from tests.models.architectures import BY_NAME

SIZES: dict[str, Any] = {"dim": 21, "depth": 3, "heads": 3, "mlp": 17}
PAIR: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "d_k": 4, "d_v": 5, "mlp": 17}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])
CLOSE = 1e-5  # rounding of float32 states
OWN: dict[str, Config] = {
    "post": EncoderConfig(**SIZES, norm="post", segments=2, embed_norm=True),
    "pre, fourth root": EncoderConfig(**SIZES, norm="pre", dot_scaling="fourth root"),
    "decoder": DecoderConfig(**SIZES, value_dim=5),
    "rotary": DecoderConfig(**SIZES, head_dim=4, positions="rotary", qkv_bias=False),
    "bilinear": EncoderConfig(**SIZES, norm="pre", scoring="bilinear", key_dim=5),
    "alibi": DecoderConfig(**SIZES, norm="post", positions="alibi"),
    "pair": Seq2SeqConfig(**PAIR),
    "pair, pre": Seq2SeqConfig(**PAIR, norm="pre", scaling="emb"),
}
LIBRARY = ["BERT", "RoBERTa", "ALBERT", "ModernBERT", "GPT-2", "BioGPT", "GPT-NeoX", "Llama"]
LIBRARY += ["Mistral", "Gemma 2", "GPT-OSS", "T5", "BART"]


def score_of(done: Trace, site: Any, head: int, query: int, key: int) -> float:
    """The score as the recipe has it, before bias and cap."""
    pattern, (rows, keys) = done.pattern(site), done.positions(site)
    q = pattern.q[0, head, rows[query]]
    k = pattern.k[0, head // (pattern.heads // pattern.k.shape[1]), keys[key]]
    if isinstance(pattern.score, Bilinear):
        return float(q @ pattern.score.matrix[head].detach() @ k)
    scale = getattr(pattern.score, "scale", None)
    return float(q @ k * (q.shape[-1] ** -0.5 if scale is None else scale))


def check(done: Trace, least: int) -> None:
    """Either side of every layer's split sums to the score of the recipe."""
    sites = [site for site in done.sites if site.kind != "cross"]
    for site in sites:
        head, query = site.heads - 1, min(6, site.queries - 1)
        found = split(done, site, head, query, 2)
        score = score_of(done, site, head, query, 2)
        assert found.score == pytest.approx(score, abs=1e-4)
        for shares in (found.query, found.key):
            assert sum(share.value for share in shares) == pytest.approx(score, abs=1e-4)
            assert len({share.name for share in shares}) == len(shares)
    assert len(split(done, sites[-1], 0, 3, 2).query) >= least


@pytest.mark.parametrize("name", OWN)
def test_shares_sum_to_the_score_in_our_networks(name: str) -> None:
    config = OWN[name]
    target = IDS[:, :5] if isinstance(config, Seq2SeqConfig) else None
    check(trace(load(config), IDS, target), least=8)


@pytest.mark.parametrize("name", LIBRARY)
def test_shares_sum_to_the_score_in_the_library_s(name: str) -> None:
    each = BY_NAME[name]
    check(trace(each.build(), each.inputs()), least=5)


@pytest.mark.parametrize(
    ("name", "kind", "parts"),
    [
        ("BERT", "self", {"positions", "segments", *(f"head {h}" for h in range(3))}),
        ("GPT-2", "causal", {"positions", *(f"head {h}" for h in range(3))}),
        ("T5", "causal", {f"{way}head {h}" for way in ("", "cross ") for h in range(5)}),
    ],
)
def test_what_writes_to_a_stream(name: str, kind: str, parts: set[str]) -> None:
    """Of item 1, beside its padding; all of it sums to the state."""
    each = BY_NAME[name]
    done = trace(each.build(), each.inputs(), hidden=True)
    site = done.site(1, kind)
    stream = done.stream(site, [0, 3, 4], item=1)
    made = stream.parts()
    names = {part.removeprefix("layer 0, ") for part in made} - {"biases"}
    assert names == {"token embedding", "MLP", *parts}
    state = done.hidden(1, 1, tower=site.tower)[[0, 3, 4]]
    torch.testing.assert_close(stream.state, state, rtol=0, atol=1e-4)
    whole = torch.stack([*made.values()]).sum(0).float()
    torch.testing.assert_close(whole, state, rtol=0, atol=1e-4)
    if name == "GPT-2":
        table, ids = each.build().transformer, each.inputs()["input_ids"][1, [0, 3, 4]]
        assert made["token embedding"].float().equal(table.wte.weight[ids])
        assert made["positions"].float().equal(table.wpe.weight[[0, 3, 4]])


def shares_of(found: Split) -> dict[str, float]:
    return dict(found.query)


@torch.no_grad()
def test_shares_by_hand() -> None:
    """Pre-norm: (part − mean) / deviation of the whole, times γ W_Q, with the key."""
    model = load(DecoderConfig(**{**SIZES, "depth": 2}, positions="learned"))
    done = trace(model, IDS, hidden=True)
    network: Any = model.network
    block, place = network.blocks[0], 4
    tokens = network.embedding.tokens.weight[IDS[0, place]] * math.sqrt(21)
    positions = network.embedding.positions.table[place]
    pattern = done.pattern(0)
    values = done.weights(0, 1, rows=place)[0] @ pattern.v[0, 1]
    head = block.attention.out.weight[:, 7:14] @ values
    stream = done.hidden(1)[place]
    x = block.before_attention(done.hidden(0)[None])
    heads = block.attention(x, mask=Mask(causal=True))[0][0, place]
    mlp = stream - done.hidden(0)[place] - heads
    second, own = network.blocks[1], done.pattern(1)
    deviation = (stream.var(unbiased=False) + 1e-5).sqrt()

    def share(part: Tensor) -> float:
        normed = (part - part.mean()) / deviation * second.before_attention.weight
        query = second.attention.query.weight[14:] @ normed
        return float(query @ own.k[0, 2, 1]) / math.sqrt(7)

    found = shares_of(split(done, 1, 2, place, 1))
    assert found["token embedding"] == pytest.approx(share(tokens), abs=CLOSE)
    assert found["positions"] == pytest.approx(share(positions), abs=CLOSE)
    assert found["layer 0, head 1"] == pytest.approx(share(head), abs=CLOSE)
    assert found["layer 0, MLP"] == pytest.approx(share(mlp), abs=CLOSE)


def test_what_cannot_be_split_is_refused_by_name() -> None:
    deep = BY_NAME["DeepSeek-V3"]
    with pytest.raises(
        ValueError, match=r"layers\.1\.self_attn: expected queries that one linear module"
    ):
        split(trace(deep.build(), deep.inputs()), 1, 0, 3, 2)
    image = BY_NAME["BEiT"]
    with pytest.raises(ValueError, match=r"layers\.0\.attention: expected its heads"):
        split(trace(image.build(), image.inputs()), 1, 0, 3, 2)
    pair = trace(load(OWN["pair"]), IDS, IDS[:, :5])
    with pytest.raises(ValueError, match="different streams"):
        split(pair, pair.site(1, "cross"), 0, 3, 2)
    done = trace(load(OWN["decoder"]), IDS)
    for wrong, line in (((1, 3, 0, 0), "head: expected 0 to 2"), ((1, 0, 9, 0), "0 to 5")):
        with pytest.raises(ValueError, match=line):
            split(done, *wrong)
