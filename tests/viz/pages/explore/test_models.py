"""Models on the page: what it opens, says and refuses, without a browser."""

import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from scipy.io import wavfile
from streamlit.testing.v1 import AppTest

from models.catalogue import bundled, catalogue
from models.request import Source
from tests.models.architectures import BARTISH, BY_NAME, TEXT, build, redraw
from tests.models.files.test_folder import HOSTILE
from tests.models.files.test_hub import NAME, cache, files, server
from tests.models.vocabularies import nllb
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
    choose,
    entry,
    labels,
    literal,
    opened,
    press,
    result_of,
    same,
    typed,
    view,
    with_list,
)
from viz.api import registry, snippet, text, tracing
from viz.api.predictions import predictions
from viz.api.samples import PHOTOS
from viz.pack import unpack
from viz.pages.explore import models
from viz.pages.state import params as link

__all__ = ["cache", "files", "server"]  # fixtures


def errors(app: AppTest) -> list[str]:
    return [literal(element.value) for element in app.error]


def told(app: AppTest) -> str:
    return " ".join(literal(element.value) for element in app.caption)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory):
    """Folders of tiny models, by the architecture's name."""
    known: dict[str, Path] = {}

    def of(name: str) -> Path:
        if name not in known:
            known[name] = tmp_path_factory.mktemp("saved") / name.lower().replace(" ", "-")
            model: Any = BY_NAME[name].build()
            model.save_pretrained(known[name])
        return known[name]

    return of


@pytest.mark.parametrize("known", bundled(), ids=lambda known: known.name)
def test_every_model_of_the_catalogue_opens(known) -> None:
    app = opened(model=known.name)
    assert errors(app) == []
    assert entry(app).view.model == known.title
    assert entry(app).kind == known.reads


def test_a_folder_without_a_tokenizer_reads_ids(saved) -> None:
    folder = saved("Llama")
    app = opened(place="folder", folder=str(folder), ids="3 4 5 6", layer="1", head="2")
    assert errors(app) == []
    assert labels(app) == ["3", "4", "5", "6"]
    assert entry(app).view.sites[1].kind == "causal"
    assert view(app)["start"]["head"] == 2


def test_a_translator_is_told_the_language_of_its_target(tmp_path: Path) -> None:
    tokenizer = nllb(src_lang="eng_Latn")
    sizes = {**BARTISH, "pad_token_id": 1, "vocab_size": len(tokenizer)}
    build("M2M100ForConditionalGeneration", "M2M100Config", sizes).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    app = opened(place="folder", folder=str(tmp_path), input="hi boy", target="i by")
    assert "target: choose its language" in " ".join(errors(app))
    choose(app, "language", "fra_Latn")
    assert errors(app) == []
    french = tokenizer.convert_tokens_to_ids("fra_Latn")
    assert entry(app).trace.target_tokens[0].ids[:2] == (2, french)
    t = entry(app).trace
    assert same(result_of(snippet.code(entry(app), 2, "mean")), t.weights(t.sites[2]).mean(0))
    choose(app, "target", "")
    assert entry(app).trace.target_tokens[0].ids[:2] == (2, french)
    link = view(app)["link"]
    again = opened(**{name: link[name] for name in ("place", "folder", "input", "language")})
    assert view(again)["trace"] == view(app)["trace"]


def test_the_size_of_pictures_can_be_changed(saved) -> None:
    folder = str(saved("DINOv2"))
    app = opened(place="folder", folder=folder)
    before = view(app)["trace"]
    choose(app, "pixels", 224)
    assert errors(app) == []
    assert view(app)["trace"] != before
    assert "size changed here" in told(app)
    link = view(app)["link"]
    assert link["pixels"] == "224"
    code = snippet.code(entry(app), 0, "mean").replace("picture.png", str(PHOTOS["flower"]))
    assert same(result_of(code), entry(app).view.weights(0).mean(0))
    again = opened(**{name: link[name] for name in ("place", "folder", "pixels")})
    assert view(again)["trace"] == view(app)["trace"]


def wav(samples: int, rate: int) -> bytes:
    file = io.BytesIO()
    wavfile.write(file, rate, (np.sin(np.arange(samples) * 0.1) * 9_000).astype(np.int16))
    return file.getvalue()


def test_recordings(saved) -> None:
    """An example at first, then an uploaded file, whose frames are labelled with their times."""
    folder = saved("wav2vec 2.0")
    app = opened(place="folder", folder=str(folder))
    assert errors(app) == [
        "wav2vec-2.0 states no feature extractor (preprocessor_config.json): use a notebook, and"
        " pass its own inputs"
    ]
    transformers.Wav2Vec2FeatureExtractor().save_pretrained(folder)
    app = opened(place="folder", folder=str(folder), sound="notes")
    assert "Using speech instead." in errors(app)[0]
    app = opened(place="folder", folder=str(folder))
    assert errors(app) == []
    count = len(labels(app))
    assert float(labels(app)[0].removesuffix(" s")) == 0
    assert "trace(model, 'viz/recordings/animal.wav')" in snippet.code(entry(app), 0, 0)

    helpers.upload(app, "explore_recording", {"no.wav": b"no sound"})
    assert errors(app) == [
        "the recording: expected a WAV file, which this is not: convert the recording to one. The"
        " previous recording is still shown."
    ]
    assert len(labels(app)) == count
    helpers.upload(app, "explore_recording", {"mine.wav": wav(4_000, 8_000)})
    assert errors(app) == []
    assert float(labels(app)[-1].removesuffix(" s")) == pytest.approx(0.5, abs=0.06)
    assert "resampled from 8,000 to 16,000 Hz" in told(app)
    assert helpers.link(app)["recording"] == link.digest_of(wav(4_000, 8_000))
    press(app, "recording_remove")
    assert len(labels(app)) == count
    (microphone,) = app.get("audio_input")
    assert microphone.proto.label == "Record"
    (uploader,) = [each for each in helpers.views(app, "files") if each["rate"]]
    assert (uploader["accept"], uploader["rate"]) == ("audio/*", 16_000)
    lost = opened(place="folder", folder=str(folder), recording="0" * 64)
    assert len(errors(lost)) == 1
    assert "upload the same file" in errors(lost)[0]


# --- what is wrong with a folder ------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole")
    sizes: Any = {**TEXT, "hidden_size": 36, "num_hidden_layers": 1}
    model = transformers.LlamaModel(transformers.LlamaConfig(**sizes))
    redraw(model)
    model.save_pretrained(path)
    return path


def test_hostile_folders_get_one_line_each_and_nothing_is_lost(llama: Path, tmp_path: Path) -> None:
    app = opened(place="folder", folder=str(llama), ids="3 4 5")
    assert errors(app) == []
    good = view(app)["trace"]
    for number, (change, _) in enumerate(HOSTILE.values()):
        folder = shutil.copytree(llama, tmp_path / str(number) / "odd-llama")
        change(folder)
        typed(app, str(folder))
        assert len(errors(app)) == 1, list(HOSTILE)[number]
        assert "\n" not in errors(app)[0]
        assert len(errors(app)[0]) < 500
        assert (view(app)["trace"], view(app)["busy"]) == (good, True)
    assert errors(typed(app, str(llama))) == []


# --- the hub -------------------------------------------------------------------------------------


@pytest.fixture
def hub_page(server: None) -> AppTest:
    """The page with a hub of its own and an empty cache."""
    models.downloads().clear()
    return opened(place="hub", id=NAME, ids="3 4 5")


def test_a_model_is_looked_up_then_fetched_then_open(hub_page: AppTest) -> None:
    app = hub_page
    assert errors(app) == []
    assert not helpers.views(app, "text")
    press(app, "look_up")
    assert f"{NAME}: 66.1 KiB in 3 files, licence apache-2.0." in told(app)
    press(app, "fetch")  # the page follows it until it is here
    assert entry(app).view.model == NAME
    with_list(app)
    (cached,) = (each for each in helpers.views(app, "choices") if "machine" in each["label"])
    assert [each["id"] for each in cached["items"]] == [NAME]


# --- a public server ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["folder", "hub"])
def test_a_public_server_opens_its_catalogue_only(
    place: str, llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBLIC", "1")
    app = opened(place=place, folder=str(llama), id="owner/name")
    assert errors(app) == ["this server is public: it opens the models of its catalogue only"]
    assert not app.text_input
    for wanted in (Source("folder", str(llama)), Source("hub", "owner/name")):
        for read in (tracing.opened, tracing.folder):
            with pytest.raises(ValueError, match="this server is public"):
                read(wanted)
    assert errors(opened(model="minilm")) == []


# --- the lines of Python --------------------------------------------------------------------------


def test_the_list_has_real_models_first_and_small_ones_under_more() -> None:
    app = with_list(opened())
    real, *_, small = helpers.views(app, "choices")
    assert {item["id"] for item in real["items"]} == {*models.KNOWN}
    ours = {known.name for known in catalogue()} - {*models.KNOWN}
    assert {item["id"] for item in small["items"]} == ours
    assert [item["id"] for item in real["items"] if item["chosen"]] == ["minilm"]


def test_a_folder_is_typed_opened_and_remembered(llama: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(llama, tmp_path / "odd-llama")
    app = opened(ids="3 4 5", place="folder")
    assert helpers.lines(app) == [models.CHOOSE]
    typed(app, str(folder))
    assert view(app)["link"]["folder"] == str(folder)
    recent = next(each for each in helpers.views(with_list(app), "choices") if each["kept"])
    assert [item["id"] for item in recent["items"]] == [str(folder)]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("second", [False, True], ids=["own", "transformers"])
def test_a_classifier_names_its_classes_with_their_probabilities(
    second: bool, several: bool, tmp_path: Path
) -> None:
    """A tiny ViT of the library: its own softmax or sigmoids, by the names of its config."""
    names: dict[Any, Any] = dict(enumerate(("a cat", "<b>dog</b>", "fish", "bird", "cow")))
    sizes: dict[str, Any] = {"hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2}
    sizes |= {"intermediate_size": 13, "image_size": 20, "patch_size": 4}
    if several:
        sizes["problem_type"] = "multi_label_classification"
    torch.manual_seed(3)
    network = transformers.ViTForImageClassification(
        transformers.ViTConfig(id2label=names, **sizes)
    )
    network.eval().save_pretrained(tmp_path)
    app = opened(place="folder", folder=str(tmp_path), compare="door:transformers")
    assert view(app)["predicts"]
    props = view(app)["second"] if second else view(app)
    shown = registry.get(props["trace"]).value
    told: Any = predictions(shown, 0, "out")
    pixels = torch.tensor(np.array(shown.pictures[0])).permute(2, 0, 1)
    with torch.no_grad():  # the default preprocessing: 0 to 1, then mean and deviation one half
        logits = network((pixels[None] / 255 - 0.5) / 0.5).logits[0]
    shares = logits.sigmoid() if several else logits.softmax(-1)
    order = shares.argsort(descending=True).tolist()
    assert told.labels == [names[id] for id in order]
    assert told.probabilities == pytest.approx([float(shares[id]) for id in order], rel=1e-4)
    assert "of 5 classes" in told.title


def test_a_model_that_interpolates_its_positions_reads_larger_pictures(saved) -> None:
    folder = str(saved("DINOv2"))
    app = opened(place="folder", folder=folder, pixels="228")
    assert errors(app) == []
    (slider,) = (each for each in helpers.views(app, "slider") if each["label"] == "Pixels a side")
    side = slider["step"]
    assert slider["value"] == 228
    assert entry(app).view.grid == (228 // side, 228 // side)
    assert not helpers.views(opened(place="folder", folder=str(saved("ViT"))), "slider")


def test_windows_are_drawn_over_the_picture_at_the_grid_of_their_stage(saved) -> None:
    app = opened(place="folder", folder=str(saved("Swin")))
    assert errors(app) == []
    assert view(app)["kind"] == "image"
    header, _ = unpack(text.overview(entry(app)))
    base = header["base"]
    grids = [base["texts"][site["query_text"]]["grids"][0]["shape"] for site in base["sites"]]
    assert grids == [[12, 12]] * 2 + [[6, 6]] * 2
