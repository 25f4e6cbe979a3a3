"""The benchmark of sweeps runs, and says which aims were met."""

from benchmarks import sweep


def test_small_networks_are_measured(monkeypatch):
    monkeypatch.setattr(sweep.subjects, "DIM", 24)
    monkeypatch.setattr(sweep.subjects, "MLP", 13)
    monkeypatch.setattr(sweep, "VOCAB", 1009)
    report = sweep.measured(13, 2, 1)
    cases = {(each["network"], each["how"]) for each in report["cases"]}
    assert cases == {(name, how) for name in sweep.networks(13, 1) for how in sweep.AIMS}
    written = sweep.text(report)
    assert "encoder, attribution" in written
    assert "passes" in written
