"""Weight sharing: counted and measured against the network itself."""

from typing import Any

import pytest

from models.lessons.sharing import shared
from models.seq2seq import Seq2Seq, Seq2SeqConfig

SIZES: dict[str, Any] = {"source_vocab": 53, "target_vocab": 53, "dim": 36, "depth": 1, "heads": 3}
SIZES |= {"d_k": 12, "d_v": 12, "mlp": 47, "dropout": 0.0, "embed_norm": False}


def of(**more: Any) -> Seq2SeqConfig:
    return Seq2SeqConfig(**SIZES | more)


@pytest.mark.parametrize("target", [True, False])
@pytest.mark.parametrize("source", [True, False])
def test_matrices_and_parameters(target: bool, source: bool) -> None:
    config = of(share_target=target, share_source=source)
    found, network = shared(config), Seq2Seq(config)
    large = {id(p) for p in network.parameters() if p.shape == (53, 36)}
    assert found.matrices == len(large)
    assert found.parameters == sum(p.numel() for p in network.parameters())


def test_scalings() -> None:
    emb, prj, none = (shared(of(scaling=name)) for name in ("emb", "prj", "none"))
    assert emb.weights == prj.weights == none.weights
    assert emb.embeddings == pytest.approx(6 * emb.weights)  # √36
    assert prj.embeddings == none.embeddings == none.weights
    assert none.logits == pytest.approx(6 * prj.logits, rel=1e-4)  # the same network, divided
    assert prj.positions == none.positions


def test_scaling_does_nothing_without_sharing() -> None:
    found = [shared(of(scaling=name, share_target=False)) for name in ("emb", "prj", "none")]
    assert found[0] == found[1] == found[2]
