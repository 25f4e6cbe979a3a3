"""The numbers of a batch are those of `analysis.heads`; sentences of the library, and intervals."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from analysis.corpus.docstrings import repeated, sentences
from analysis.corpus.intervals import NORMAL, interval
from analysis.corpus.plan import Plan, Settings, places_of
from analysis.corpus.state import State
from analysis.corpus.tally import tally
from analysis.corpus.texts import Text
from analysis.heads import KINDS, heads
from analysis.measures import PICTURE_MEASURES
from analysis.vision import attention_distance, attention_entropy
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.model import Model
from models.run import as_model, load, trace
from models.seq2seq import Seq2SeqConfig
from models.trace import Trace
from models.vit import ViTConfig
from tests.models.architectures import BY_NAME

CLOSE = 2e-5  # rounding of float32 sums over a few dozen weights
SIZES: dict[str, Any] = {"vocab": 53, "dim": 15, "depth": 2, "heads": 3, "mlp": 17}
IDS = torch.randint(3, 14, (4, 29), generator=torch.Generator().manual_seed(3))


def seq2seq() -> Trace:
    config = Seq2SeqConfig(source_vocab=53, target_vocab=53, dim=15, depth=2, heads=3, mlp=17)
    return trace(load(config), IDS, IDS[:, :13])


CASES: dict[str, Callable[[], Trace]] = {
    "encoder": lambda: trace(load(EncoderConfig(**SIZES)), IDS),
    "decoder": lambda: trace(load(DecoderConfig(**SIZES)), IDS),
    "long": lambda: trace(load(DecoderConfig(**SIZES, max_tokens=300)), IDS.repeat(1, 10)[:2]),
    "two tokens": lambda: trace(load(DecoderConfig(**SIZES)), IDS[:, :2]),
    "encoder–decoder": seq2seq,
    "window": lambda: trace(as_model(BY_NAME["Mistral"].build()), {"input_ids": IDS[:2]}),
    "sinks": lambda: trace(as_model(BY_NAME["GPT-OSS"].build()), {"input_ids": IDS[:2]}),
    "T5": lambda: trace(as_model(BY_NAME["T5"].build()), IDS[:1], IDS[:1, :7]),
}


def read(found: Trace, *, pictures: bool = False) -> tuple[Plan, dict[str, np.ndarray]]:
    """The totals of one batch."""
    places = places_of([site for site in found.sites if site.kind in KINDS])
    plan = Plan(Settings(pictures), places, tuple(range(59)))
    items = [Text(f"text:{n}", "", None, n, len(each)) for n, each in enumerate(found.tokens)]
    state = State.empty(plan)
    tally(plan, state, items, found)
    return plan, state.totals


@pytest.mark.parametrize("name", CASES)
def test_means_are_those_of_single_texts(name: str) -> None:
    found = CASES[name]()
    plan, totals = read(found)
    single = [heads(found, item=item) for item in range(len(found.tokens))]
    sites = {site.where: row for row, site in enumerate(found.sites)}
    compared = 0
    for column, measure in enumerate(plan.measures):
        for place in plan.places:
            every = torch.stack([each[measure.key] for each in single])
            values = every[:, sites[place.where], : place.heads].double()
            known = ~values.isnan()
            assert totals["count"][place.slice, column].tolist() == known.sum(0).tolist()
            total = values.nan_to_num(0.0).sum(0).numpy()
            tolerance = CLOSE * len(values) * max(1.0, float(values.nan_to_num(0.0).max()))
            np.testing.assert_allclose(
                totals["sum"][place.slice, column],
                total,
                rtol=0,
                atol=tolerance,
                err_msg=f"{measure.key}, layer {place.where.layer}",
            )
            compared += int(known.sum())
    assert compared > 20


@pytest.fixture(scope="module")
def picture() -> Trace:
    sizes: dict[str, Any] = {"dim": 15, "depth": 2, "heads": 3, "mlp": 17, "registers": 2}
    model: Model = load(ViTConfig(image=(16, 24), patch=4, **sizes))
    return trace(model, torch.rand(2, 3, 16, 24, generator=torch.Generator().manual_seed(2)))


def test_numbers_of_pictures_are_those_of_the_image_page(picture: Trace) -> None:
    plan, totals = read(picture, pictures=True)
    for place in plan.places:
        site = picture.site(place.where)
        expected = {
            "patch distance": [attention_distance(picture, site, item=n) for n in range(2)],
            "row entropy": [attention_entropy(picture, site, item=n) for n in range(2)],
        }
        assert expected.keys() == {measure.key for measure in PICTURE_MEASURES}
        table = [heads(picture, item=n) for n in range(2)]
        row = picture.sites.index(site)
        for measure in plan.measures:
            values = expected.get(measure.key) or [each[measure.key][row] for each in table]
            total = torch.stack(values).double().nan_to_num(0.0).sum(0).numpy()
            column = plan.measures.index(measure)
            found = totals["sum"][place.slice, column]
            np.testing.assert_allclose(found, total, atol=1e-4, err_msg=measure.key)


def test_the_grid_holds_the_weight_of_the_patches(picture: Trace) -> None:
    plan, totals = read(picture, pictures=True)
    for place in plan.places:
        weights = torch.stack([picture.weights(place.where, item=n) for n in range(2)])
        prefix = picture.prefix
        drawn = weights[:, :, prefix:, prefix:].double().sum((0, 2)).unflatten(-1, (4, 6))
        cells = np.zeros((place.heads, 8, 8))
        for row in range(4):
            for col in range(6):
                cells[:, row * 8 // 4, col * 8 // 6] += drawn[:, row, col].numpy()
        np.testing.assert_allclose(totals["grid"][place.slice].reshape(-1, 8, 8), cells, atol=1e-5)


def test_sentences_of_the_standard_library() -> None:
    found = sentences(50)
    assert len(found) == len(set(found)) == 50
    assert sentences(20) == found[:20]
    assert all(each[0].isupper() and each[-1] in ".!?" and "\n" not in each for each in found)


def test_repeated_tokens_are_the_same_twice(encoder: Model) -> None:
    model = load("induction")
    assert model.tokenizer is not None
    found = repeated(model, 5)
    assert found == repeated(model, 5)
    for text in found:
        plain = model.tokenizer.encode(text).ids
        assert len(set(plain)) <= len(plain) // 2 + 2
    with pytest.raises(ValueError, match="has no tokenizer that writes text"):
        repeated(encoder, 5)


def ends(values: list[float], *, share: bool = True) -> tuple[float, float]:
    array = np.array(values, float)
    low, high = interval(array.mean(), array.var(ddof=1), float(len(array)), share=share)
    return float(low), float(high)


@pytest.mark.parametrize(("ones", "count"), [(1, 2), (3, 7), (64, 64), (0, 41), (199, 200)])
def test_texts_of_0_and_1_have_the_interval_that_wilson_s_equation_gives(ones, count) -> None:
    """Its ends p solve (p − k / n)² = z² p (1 − p) / n, a quadratic equation."""
    share, most = ones / count, NORMAL**2 / count
    roots = np.roots([1 + most, -(2 * share + most), share**2]).real
    assert ends([1.0] * ones + [0.0] * (count - ones)) == pytest.approx(sorted(roots), abs=1e-7)


def test_of_many_texts_it_is_the_normal_interval() -> None:
    values = np.random.default_rng(0).beta(4, 3, 100_000)
    error = NORMAL * values.std(ddof=1) / math.sqrt(len(values))
    normal = values.mean() - error, values.mean() + error
    assert ends(list(values)) == pytest.approx(normal, abs=error / 100)
    assert ends(list(9 * values), share=False) == pytest.approx([9 * each for each in normal])
