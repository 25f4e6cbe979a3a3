"""Estimates of a traced pass, and what they refuse."""

import pytest

from models.decoder import DecoderConfig
from models.loading import estimate, summary
from models.run import load
from models.ssru import TranslatorConfig

CONFIG = DecoderConfig(vocab=101, dim=35, depth=2, heads=5, mlp=53, max_tokens=997)


def test_logits_of_one_token_are_kept_where_all_are_many() -> None:
    model = load(CONFIG)
    assert estimate.kept_logits(model, 997) is None
    assert estimate.kept_logits(model, 2**28 // (4 * 101) + 1) == 1


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(CONFIG)
    estimate.check_memory(model, 997)
    monkeypatch.setattr(estimate, "available_memory", lambda device: 2**20)
    with pytest.raises(ValueError, match=r"997 tokens need about 0\.0 GiB .* 0\.0 GiB are free"):
        estimate.check_memory(model, 997)


def test_a_recurrent_decoder_is_estimated_from_its_weights() -> None:
    """About two operations for each weight outside the embeddings and each token, and attention."""
    config = TranslatorConfig(vocab=53, dim=20, depth=3, decoder_depth=1, heads=2, mlp=17)
    model = load(config)
    assert [part.layers for part in summary.parts(model)] == [3, 1]
    network = model.network
    weights = sum(each.numel() for each in network.parameters()) - 53 * 20
    found = estimate.estimate(model, 11)
    assert found.flops == 2 * 11 * weights + 4 * (3 + 1) * 20 * 11**2


def test_the_bytes_of_a_pass() -> None:
    """Of q, k and v in 6 layers, of four hidden layers at once, and of logits."""
    found = estimate.estimate(load("minilm"), 7)
    assert found.bytes == 4 * 7 * (6 * 3 * 384 + 2 * 1536 + 2 * 384 + 30522)
    shared = DecoderConfig(vocab=101, dim=36, depth=2, heads=6, kv_heads=2, mlp=53)
    found = estimate.estimate(load(shared), 7)
    assert found.bytes == 4 * 7 * (2 * (36 + 2 * 12) + 2 * 53 + 2 * 36 + 101)
