"""The encoder–decoder: what is shared and scaled, its sizes, and the places of edits."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.edits import Ablate
from models.positional import sinusoidal
from models.seq2seq import Seq2Seq, Seq2SeqConfig

SMALL = Seq2SeqConfig(
    source_vocab=101,
    target_vocab=101,
    dim=70,
    depth=3,
    heads=5,
    d_k=14,
    d_v=11,
    mlp=53,
    max_tokens=31,
    seed=2,
)
APART = {"share_source": False, "target_vocab": 89}
BATCH, SOURCE, TARGET = 2, 13, 11
ROUNDING = 1e-5  # float32 through six blocks: hidden states up to 4


def ids_of(tokens: int, batch: int = BATCH, seed: int = 7) -> Tensor:
    """Words: no padding, begin or end among them."""
    return torch.randint(3, 89, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def pair(batch: int = BATCH) -> tuple[Tensor, Tensor]:
    """A source and a target, which begins with the begin symbol."""
    target = ids_of(TARGET, batch, seed=5)
    target[:, 0] = 1
    return ids_of(SOURCE, batch), target


def built(**changes: Any) -> Seq2Seq:
    return Seq2Seq(replace(SMALL, **changes)).eval()


# --- config and weights -----------------------------------------------------------------------


def test_what_is_shared() -> None:
    matrix = 101 * 70
    for target in (False, True):
        for source in (False, True):
            network = built(share_target=target, share_source=source)
            encoder, decoder = network.encoder.tokens.weight, network.embedding.tokens.weight
            assert (encoder is decoder) == source
            assert (network.output.weight is None) == target
            count = sum(weights.numel() for weights in network.parameters())
            alone = sum(weights.numel() for weights in built().parameters())
            assert count - alone == ((not target) + (not source)) * matrix
    apart = built(**APART)
    assert apart(*pair()).logits.shape == (BATCH, TARGET, 89)


@pytest.mark.parametrize("assign", [False, True])
def test_sharing_outlives_loading_and_moving(assign: bool) -> None:
    network = built()
    state = {name: weights.clone() for name, weights in built(seed=3).state_dict().items()}
    network.load_state_dict(state, assign=assign)
    network.to(torch.float64)
    assert network.encoder.tokens.weight is network.embedding.tokens.weight
    source, target = pair()
    off = network(source, target).logits - built(seed=3)(source, target).logits
    assert off.abs().max() < ROUNDING


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("scaling", ["emb", "prj", "none"])
def test_scaling_acts_only_with_target_sharing(scaling: str, shared: bool) -> None:
    network = built(scaling=scaling, share_target=shared, embed_norm=False)
    source, target = pair()
    out = network(source, target)
    factor = math.sqrt(70) if shared and scaling == "emb" else 1.0
    weight = network.embedding.tokens.weight
    for ids, state in ((source, out.encoder.states[0]), (target, out.states[0])):
        assert (state - factor * weight[ids] - sinusoidal(ids.shape[1], 70)).abs().max() < 1e-6
    divided = math.sqrt(70) if shared and scaling == "prj" else 1.0
    last = weight if shared else network.output.weight
    assert last is not None
    assert (out.logits - out.hidden @ last.T / divided).abs().max() < ROUNDING


def test_embedding_norm_comes_after_the_dropout() -> None:
    """So that what goes into the first block has mean 0 and deviation 1, also in training."""
    network = built(dropout=0.5).train()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        out = network(*pair())
    for state in (out.encoder.states[0], out.states[0]):
        assert state.mean(-1).abs().max() < 1e-6
        assert (state.square().mean(-1) - 1).abs().max() < 1e-4  # eps against a variance near 1


def test_xavier() -> None:
    """Every matrix, embeddings included, is uniform up to √(6 / (rows + columns))."""
    for name, weights in built(share_target=False, share_source=False).named_parameters():
        if weights.ndim > 1:
            bound = math.sqrt(6 / sum(weights.shape))
            assert 0.95 * bound < weights.abs().max() <= bound, name
            assert abs(float(weights.detach().std()) - bound / math.sqrt(3)) < 0.05 * bound, name
        else:
            assert weights.eq(1 if name.endswith("norm.weight") else weights[0]).all(), name


@pytest.mark.parametrize("kind", ["causal", "cross"])
def test_the_mean_over_an_items_own_tokens(kind: str) -> None:
    """Padding of the target does not count, also where the source is just as long."""
    network, edits = built(), [Ablate(1, 2, "mean", kind=kind)]
    source, target = ids_of(TARGET), pair()[1]
    source[1, 4:] = 0
    target[1, 7:] = 0
    together = network(source, target, edits=edits)
    alone = network(source[1:, :4], target[1:, :7], edits=edits)
    assert (together.logits[1:, :7] - alone.logits).abs().max() < ROUNDING
