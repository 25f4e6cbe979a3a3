"""What the API says of pictures beside a text equals the analyses."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers

from analysis import grounding
from analysis.contrast import captions
from models.inputs.prompt import Prompt
from models.request import File, Picture, Question, Source, TraceRequest, file_of
from tests.models.architectures import BY_NAME as TINY
from tests.models.vision_language import BY_NAME, photo
from tests.viz.api.asking import ask
from viz.api import snippet, text, tracing
from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry
from viz.pack import unpack
from viz.views.pictures import numbers as pictured

TYPED = "a dog sits"
CLOSE: dict[str, Any] = {"rel": 1e-4, "abs": 1e-6}


def file() -> File:
    data = io.BytesIO()
    photo().save(data, "PNG")
    return file_of(data.getvalue(), "photo.png")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., TraceEntry]:
    folders: dict[str, Path] = {}

    def ask(name: str = "LLaVA", pictures: int = 1, *, video: bool = False) -> TraceEntry:
        if name not in folders:
            folders[name] = BY_NAME[name].save(tmp_path_factory.mktemp("family"))
        source = tracing.stamped(Source("folder", str(folders[name])))
        return tracing.entry_for(
            TraceRequest(source, Question("what is it", (file(),) * pictures, video), TYPED)
        ).value

    return ask


def compared_entry(folder: Path) -> TraceEntry:
    """A tiny CLIP that has read a photo and a caption."""
    network: Any = TINY["CLIP"].build()
    network.save_pretrained(folder)
    words = {word: i for i, word in enumerate(("<unk>", "a", "dog", "cat"))}
    reader = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    reader.pre_tokenizer = pre_tokenizers.Whitespace()
    reader.save(str(folder / "tokenizer.json"))
    source = tracing.stamped(Source("folder", str(folder)))
    return tracing.entry_for(TraceRequest(source, Picture(file(), text="a dog"))).value


def base_of(entry: TraceEntry) -> dict[str, Any]:
    return unpack(text.overview(entry))[0]["base"]


def test_words_of_an_answer_come_with_the_rows_that_write_them(asked) -> None:
    entry = asked()
    answer = ask(entry, "answer")
    first = entry.trace.answer
    assert [each["text"] for each in answer["words"]] == TYPED.split()
    assert [each["rows"] for each in answer["words"]] == [[first - 1], [first], [first + 1]]
    sites = [entry.trace.sites[site] for site in answer["sites"]]
    assert tuple(sites) == grounding.sites_on_pictures(entry.trace)


@pytest.mark.parametrize("name", ["LLaVA", "Idefics3", "Qwen2-VL"])
def test_the_overview_has_the_grid_of_every_picture(name: str, asked) -> None:
    entry = asked(name, pictures=2)
    base = base_of(entry)
    assert base["pictures"] == 2
    site = grounding.sites_on_pictures(entry.trace)[0]
    told = base["texts"][base["sites"][entry.trace.sites.index(site)]["key_text"]]["grids"]
    grids = entry.trace.key_pictures(site)
    assert {grid.picture for grid in grids} == {0, 1}
    for found, grid in zip(told, grids, strict=True):
        assert (found["picture"], found["shape"]) == (grid.picture, [grid.rows, grid.cols])
        assert found["places"] == grid.places.flatten().tolist()
        assert found["box"] == pytest.approx(list(grid.box), abs=1e-5)


def test_shares_and_ranks_are_the_analyses(asked) -> None:
    entry = asked()
    site = ask(entry, "answer")["sites"][0]
    row = entry.trace.answer - 1
    shares = ask(entry, "shares", site, row, row + 1)
    found = entry.trace.sites[site]
    expected = grounding.split(entry.trace, found, [row, row + 1])
    for name, values in expected._asdict().items():
        assert shares[name] == pytest.approx(values.tolist(), **CLOSE)
    assert shares["at"] == [*grounding.sinks(entry.trace, found)]
    heads = ask(entry, "ranked", row, row)["heads"]
    expected = grounding.ranked(entry.trace, [row])[: pictured.HEADS]
    sites = entry.trace.sites
    assert [(each["site"], each["head"]) for each in heads] == [
        (sites.index(each.site), each.head) for each in expected
    ]
    assert [each["mass"] for each in heads] == pytest.approx([h.mass for h in expected], **CLOSE)
    with pytest.raises(QuestionError, match="rows within"):
        ask(entry, "shares", site, 5, 4)


@pytest.mark.parametrize("head", [1, "mean", "max"])
def test_readers_of_an_area_sum_its_weights(head: Any, asked) -> None:
    entry = asked()
    site = ask(entry, "answer")["sites"][0]
    layer = entry.trace.sites[site]
    (grid,) = entry.trace.key_pictures(layer)
    left, top, right, bottom = grid.box
    wide, high = (right - left) / grid.cols, (bottom - top) / grid.rows
    area = (left + wide, top, left + 3 * wide, top + 2 * high)
    sides = (max(0, round(1000 * side)) for side in area)
    answer = ask(entry, "readers", site, head, ".".join(map(str, (0, *sides))))
    patches = [int(grid.places[row, col]) for row in (0, 1) for col in (1, 2)]
    assert (answer["patches"], answer["first"]) == (len(patches), entry.trace.answer - 1)
    for place, weight in enumerate(answer["weights"]):
        row = entry.trace.answer - 1 + place
        by_head = [
            sum(float(entry.trace.weights(layer, head=each)[row, key]) for key in patches)
            for each in range(layer.heads)
        ]
        means = {"mean": sum(by_head) / layer.heads, "max": max(by_head), 1: by_head[1]}
        assert weight == pytest.approx(means[head], **CLOSE)
    assert len(answer["weights"]) == len(TYPED.split())
    assert "no image token" in ask(entry, "readers", site, 0, "0.0.0.10.10")["why"]
    with pytest.raises(QuestionError, match="expected head"):
        ask(entry, "readers", site, 99, "0.0.0.500.500")


def test_captions_of_a_picture_are_the_analysis(tmp_path: Path) -> None:
    entry = compared_entry(tmp_path)
    assert base_of(entry)["captions"]
    answer = ask(entry, "captions", "a dog| a cat |a dog")
    assert entry.opened is not None
    model, given, _ = entry.opened()
    expected = captions(model, given["pixel_values"], ["a dog", "a cat"])
    for each, caption in zip(answer["captions"], expected, strict=True):
        assert each["text"] == caption.text
        assert each["similarity"] == pytest.approx(caption.similarity, rel=1e-3)
        torch.testing.assert_close(
            torch.tensor(each["relevance"]), caption.relevance, rtol=1e-3, atol=1e-6
        )
    assert "at most 6" in ask(entry, "captions", "|".join("abcdefg"))["why"]


def test_pictures_are_sent_and_bad_questions_are_one_line(asked) -> None:
    entry = asked()
    data, kind = pictured.photo(entry, 0)
    assert (kind, Image.open(io.BytesIO(data)).size) == ("image/png", photo().size)
    with pytest.raises(QuestionError, match="expected picture 0 to 0"):
        pictured.photo(entry, 1)
    row = entry.trace.answer
    assert "choose a word" in ask(entry, "need", "0.0.0.500.500", 0, 0)["why"]
    assert "expected a word" in ask(entry, "versus", row, " ")["why"]
    assert "Prompt('what is it', images=[Path('photo.png')])" in snippet.code(entry, 0, 0)
    assert isinstance(entry.opened()[1], Prompt)
