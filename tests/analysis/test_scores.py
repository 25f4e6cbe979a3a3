"""Scores before the softmax against attention written out, in networks of every mechanism."""

from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.derived import Scores, has_scores
from analysis.view import View
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.trace import Trace
from tests.models.library import written
from tests.models.tiny_models import model, plain, source

# rotary, grouped, capped, sinks, learned relative bias, cross attention
NAMES = ("BERT", "GPT-NeoX", "Llama", "Gemma 2", "GPT-OSS", "DeepSeek-V3", "T5", "BART")
EXACT = 2e-5  # float32: scores reach 50


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_that_go_into_the_softmax(name: str) -> None:
    network, (given, _), found = model(name).network, source(name), plain(name)
    seen: list[Tensor] = []
    with torch.no_grad():
        written(network, given, scores=lambda _, x: seen.append(x[..., :-1]) or x)
    for site, theirs in zip(found.sites, seen, strict=True):
        mine = Scores(found).weights(site)
        masked = theirs[0] < -1e4
        assert torch.equal(mine.isneginf(), masked.expand_as(mine))
        off = (mine - theirs[0])[~mine.isneginf()].abs().max()
        assert off < EXACT * max(1.0, float(theirs[0][theirs[0] > -1e4].abs().max()))
        row = Scores(found).weights(site, 1, rows=range(2, 4))
        torch.testing.assert_close(row, mine[1, 2:4])


@pytest.fixture(scope="module")
def sentence() -> Trace:
    return trace(load("minilm"), "An unbelievable hippopotamus")


def test_a_view_of_single_tokens_has_their_scores(sentence: Trace) -> None:
    view = View(sentence, words=False)
    site = view.sites[1]
    mine = Scores(view).weights(site, 3, rows=range(1, 3))
    torch.testing.assert_close(mine, sentence.scores(1, 3)[1:3])
    hidden = Scores(view, {site: (0, 2)}).weights(site, 3)
    assert hidden.isneginf().sum() == 2 * len(sentence.labels)


def test_a_word_of_several_tokens_has_no_score(sentence: Trace) -> None:
    view = View(sentence, words=True)
    assert not has_scores(view, view.sites[0])
    assert has_scores(View(sentence, words=False), view.sites[0])
    with pytest.raises(ValueError, match="single tokens"):
        Scores(view).weights(view.sites[0])


def test_a_joint_map_has_no_scores() -> None:
    config = Seq2SeqConfig(source_vocab=53, target_vocab=53, dim=21, heads=3, depth=1, mlp=13)
    view = View(trace(load(config), torch.arange(4, 9)[None], torch.arange(5, 8)[None]), False)
    assert [has_scores(view, site) for site in view.sites] == [True, True, True, False]


def test_masks_of_large_negative_numbers_are_masked() -> None:
    sizes: dict[str, Any] = {"source_vocab": 53, "target_vocab": 53, "dim": 21, "heads": 3}
    config = Seq2SeqConfig(**sizes, depth=1, mlp=13, d_k=7, d_v=5, mask_fill=-1e9)
    found = trace(load(config), torch.arange(4, 17)[None], torch.arange(5, 12)[None])
    causal = next(site for site in found.sites if site.kind == "causal")
    assert found.scores(causal).isfinite().all()
    mine = Scores(found).weights(causal, 1)
    assert torch.equal(mine.isneginf(), torch.ones(7, 7).triu(1).bool())
