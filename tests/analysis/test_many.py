"""Several inputs: each is what it is alone, and the interval is that of Student's t."""

from typing import Any

import pytest
import torch
from scipy import stats

import headscope as hs
from analysis import sweep as sweeping
from analysis.many import Mean
from models.decoder import DecoderConfig

TEXTS = ["a b c", "d e", "b c a d e", "c c"]
MODEL = hs.load(DecoderConfig(vocab=31, dim=12, heads=2, depth=3))
GIVEN: dict[str, Any] = {"edit": hs.Ablate}
MEASURES = [hs.Logit(5), hs.Logit(3, versus=2), hs.Logit(9), hs.Logit(5, query=-2)]


def test_an_interval_is_that_of_scipy() -> None:
    numbers = torch.randn(7, 3, generator=torch.Generator().manual_seed(4)).double()
    found = Mean(numbers)
    ends = stats.t.interval(0.95, 6, numbers.mean(0), stats.sem(numbers))
    torch.testing.assert_close(
        torch.stack([found.low, found.high]), torch.stack([*map(torch.as_tensor, ends)])
    )
    assert repr(found) == "Mean(3, 7 inputs)"
    assert Mean(numbers[:1]).margin.isnan().all()


@pytest.mark.parametrize("how", ["exact", "attribution"])
@pytest.mark.parametrize("together", [1, 3, 32])
def test_a_sweep_of_a_list_is_each_alone(
    how: Any, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "BATCH", together)
    found = hs.sweep(MODEL, TEXTS, measure=MEASURES, how=how, **GIVEN)
    assert isinstance(found, Mean)
    for each, text, measure in zip(found.each, TEXTS, MEASURES, strict=True):
        alone = hs.sweep(MODEL, text, measure=measure, how=how, **GIVEN)
        torch.testing.assert_close(each, alone, rtol=0, atol=1e-5)


def test_a_function_measures_one_input_at_a_time() -> None:
    number = lambda t: float(t.logits[0, -1, 7])  # noqa: E731
    found = hs.sweep(MODEL, TEXTS[:2], measure=number, **GIVEN)
    assert isinstance(found, Mean)
    torch.testing.assert_close(found.each[1], hs.sweep(MODEL, TEXTS[1], measure=number, **GIVEN))


def test_states_of_a_list_are_each_alone() -> None:
    texts, others = ["a b c", "d b a"], ["a c c", "d e a"]
    found = hs.state_sweep(MODEL, texts, others, measure=hs.Logit(5), top=100)
    assert isinstance(found.attribution, Mean)
    assert isinstance(found.exact, Mean)
    for item, (text, other) in enumerate(zip(texts, others, strict=True)):
        alone = hs.state_sweep(MODEL, text, other, measure=hs.Logit(5), top=100)
        assert isinstance(alone.exact, torch.Tensor)
        assert isinstance(alone.attribution, torch.Tensor)
        rough, exact = found.attribution.each[item], found.exact.each[item]
        torch.testing.assert_close(rough, alone.attribution, rtol=0, atol=1e-5)
        there = ~alone.exact.isnan()
        torch.testing.assert_close(exact[there], alone.exact[there], rtol=0, atol=1e-5)


def test_parts_of_logits_are_averaged() -> None:
    both = hs.trace(MODEL, TEXTS[:2]), hs.trace(MODEL, TEXTS[2])
    found = hs.logit_attribution([*both], [5, 3, 9])
    alone = [hs.logit_attribution(hs.trace(MODEL, x), i) for x, i in zip(TEXTS, (5, 3, 9))]  # noqa: B905
    for name, mean in found.items():
        expected = sum(each[name] for each in alone) / 3
        assert float(mean.mean) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": [hs.Logit(5)]}, "measure: expected one for each of 4 inputs"),
        ({"measure": hs.Logit(5), "target": "a"}, "target: expected one for each of 4 inputs"),
    ],
)
def test_as_many_as_there_are_inputs(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hs.sweep(MODEL, TEXTS, **GIVEN, **given)
