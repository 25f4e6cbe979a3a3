"""The head to begin with, against a slow plain loop."""

import math
from pathlib import Path

import pytest
import transformers

from analysis.grounding import ranked
from analysis.telling import MOST, PEAK, Telling, telling
from models.inputs.prompt import Prompt
from models.run import Trace, load, trace
from tests.analysis.test_alignment import planted
from tests.models.inputs.test_sound import EXTRACTORS, wave
from tests.models.pretrained.tiny import build
from tests.models.vision_language import BY_NAME, photo
from viz.api import samples

TEXTS = {"minilm": "The keys to the cabinet are old.", "induction": "magnet magn"}


def slowly(found: Trace, *, sinks: set[int], query: int, picture: bool) -> tuple[int, int]:
    best, place = 0.0, (-1, -1)
    for site in found.sites:
        for head in range(site.heads):
            row = found.weights(site, head)[query].tolist()
            plain = sinks if picture else sinks | {query, query - 1}
            if sum(w for key, w in enumerate(row) if key not in plain) <= 1 - MOST:
                continue
            if picture and max(row) >= PEAK:
                continue
            seen = [w for w in row if w > 0]
            gain = math.log(len(seen)) + sum(w * math.log(w) for w in seen)
            if gain > best:
                best, place = gain, (site.layer, head)
    return place


@pytest.mark.parametrize("name", TEXTS)
def test_the_head_is_that_of_a_plain_loop(name: str) -> None:
    found = trace(load(name), TEXTS[name])
    special = {place for place, each in enumerate(found.tokens[0].special) if each}
    query = max(set(range(len(found.labels))) - special)
    chosen = telling(found)
    expected = slowly(found, sinks={0} | special, query=query, picture=False)
    if expected == (-1, -1):
        assert chosen is None
        return
    assert chosen is not None
    assert (chosen.site.layer, chosen.head, chosen.query) == (*expected, query)
    row = found.weights(chosen.site, chosen.head)[query]
    assert (chosen.key, chosen.weight) == (int(row.argmax()), pytest.approx(float(row.max())))
    assert chosen.even == 1 / sum(weight > 0 for weight in row.tolist())


def test_of_a_picture_it_is_a_head_of_the_class_token() -> None:
    found = trace(load("shapes"), samples.PICTURES[next(iter(samples.samples("shapes")))])
    chosen = telling(found)
    expected = slowly(found, sinks=set(range(found.prefix)), query=0, picture=True)
    if expected == (-1, -1):
        assert chosen is None
        return
    assert isinstance(chosen, Telling)
    assert (chosen.site.layer, chosen.head, chosen.query) == (*expected, 0)


def test_a_recording_begins_with_the_head_that_follows_time() -> None:
    t = planted()
    found = telling(t)
    assert found is not None
    written = t.query_labels(found.site)[found.query + 1]
    assert (found.site, found.head, written) == (t.sites[0], 1, " qu")  # of the longest word
    assert found.weight == float(t.weights(0, 1)[found.query, found.key])


def test_an_answer_about_a_picture_begins_with_the_head_that_localises_its_longest_word(
    tmp_path: Path,
) -> None:
    model = load(str(BY_NAME["LLaVA"].save(tmp_path)))
    t = trace(model, Prompt("what is it", (photo(),)), "a dog sits here")
    found = telling(t)
    assert found is not None
    assert t.answer is not None
    row = t.answer - 1 + 2  # "sits", the first of the longest
    best = ranked(t, [row])[0]
    assert (found.site, found.head, found.query) == (best.site, best.head, row)


def test_an_encoder_of_sound_begins_with_the_moment_in_the_middle(tmp_path: Path) -> None:
    model, config, sizes, extractor, settings, _ = EXTRACTORS["wav2vec 2.0"]
    build(model, config, sizes).save_pretrained(tmp_path)
    getattr(transformers, extractor)(**settings).save_pretrained(tmp_path)
    found = trace(load(tmp_path), wave())
    chosen = telling(found)
    assert chosen is not None
    assert chosen.query == len(found.labels) // 2
    expected = slowly(found, sinks={0}, query=chosen.query, picture=False)
    assert (chosen.site.layer, chosen.head) == expected
