"""The benchmark of corpus runs, on a small model."""

from benchmarks.corpus import measured, text
from models.encoder import EncoderConfig
from models.run import load


def test_a_run_is_measured_against_untraced_passes() -> None:
    model = load(EncoderConfig(vocab=97, dim=10, depth=1, heads=2, mlp=17))
    report = measured(model, 60)
    assert (report["texts"], report["threads"] > 0) == (60, True)
    assert report["ratio of the whole"] > report["seconds"]["read"] / report["seconds"]["untraced"]
    assert "60 texts" in text(report)
