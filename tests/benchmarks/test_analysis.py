"""The benchmark of the analyses runs, and says which aims were met."""

from benchmarks import analysis


def test_a_small_network_is_measured(monkeypatch):
    monkeypatch.setattr(analysis, "FLOW_TOKENS", 11)
    monkeypatch.setattr(analysis.subjects, "DIM", 24)
    monkeypatch.setattr(analysis.subjects, "MLP", 13)
    report = analysis.measured(13, 2, 1)
    assert set(report["ratios"]) == set(analysis.AIMS)
    written = analysis.text(report)
    assert "one row at 11 tokens" in written
    assert "relevance, attnlrp" in written
