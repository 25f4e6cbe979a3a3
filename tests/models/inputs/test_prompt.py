"""Prompts with pictures, for tiny checkpoints of every vision-language family."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from analysis import grounding
from models.edits import Ablate
from models.encoder import EncoderConfig
from models.inputs.processor import joint_processor
from models.inputs.prompt import Prompt
from models.model import Model
from models.picture_grid import PictureGrid
from models.run import load, trace
from models.trace import Site, Trace
from models.verify import verify
from models.vit import ViTConfig
from tests.models.vision_language import BY_NAME, FAMILIES, IMAGE, VOCAB, photo

NAMES = [family.name for family in FAMILIES]
PLACED = [family.name for family in FAMILIES if family.grids is not None]
IN_TEXT = [name for name in PLACED if name != "Mllama"]
QUESTION = "what is on the picture"
ROUNDING = 1e-3  # of float32 in other kernels, in networks whose weights are drawn wide


def site_of_words(found: Trace) -> Site:
    """The first site whose queries are words and whose keys lie on pictures."""
    towers = [site for site in found.sites if site.tower not in ("vision", "visual", "qformer")]
    return next(site for site in towers if found.key_pictures(site))


def ask(model: Model, *images: Any, target: Any = None, **more: Any) -> Trace:
    return trace(model, Prompt(QUESTION, images or (photo(),), most_written=4), target, **more)


# --- every family opens -------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLACED)
def test_image_tokens_lie_on_the_grids_of_the_family(name: str, opened: Any) -> None:
    found = ask(opened(name))
    grids = found.key_pictures(site_of_words(found))
    expected = BY_NAME[name].grids
    assert [[grid.rows, grid.cols] for grid in grids] == expected
    places = torch.cat([grid.places.flatten() for grid in grids])
    assert len(set(places.tolist())) == len(places)
    labels = found.key_labels(site_of_words(found))
    assert "<image>" not in found.labels
    towers = [site.module for site in found.sites if site.tower in ("vision", "visual")]
    assert len(towers) == len({*towers})  # tiles and windows are items of a site
    for grid in grids:
        for row, line in enumerate(grid.places.tolist()):
            assert [labels[place].split("patch ")[-1] for place in line] == [
                f"{row},{col}" for col in range(grid.cols)
            ]


@pytest.mark.parametrize("name", NAMES)
def test_every_map_is_the_library_s(name: str, opened: Any) -> None:
    """Against eager attention, ablations too."""
    model = opened(name)
    found = verify(model, Prompt(QUESTION, (photo(),), most_written=3))
    assert found.compared
    assert not found.problems(ROUNDING)


# --- where the tokens lie -----------------------------------------------------------------------


def painted(picture: Image.Image, grid: PictureGrid, row: int, col: int) -> Image.Image:
    """The picture with the middle of one cell inverted."""
    levels = np.array(picture)
    left, top, right, bottom = grid.cell(row, col)
    wide, high = picture.size
    cols = (np.arange(wide) + 0.5) / wide
    rows = (np.arange(high) + 0.5) / high
    across = (cols > left + 0.2 * (right - left)) & (cols < right - 0.2 * (right - left))
    down = (rows > top + 0.2 * (bottom - top)) & (rows < bottom - 0.2 * (bottom - top))
    levels[np.ix_(down, across)] = 255 - levels[np.ix_(down, across)]
    return Image.fromarray(levels)


@pytest.mark.parametrize("name", [name for name in PLACED if name != "Florence-2"])
def test_a_change_of_the_picture_in_a_cell_changes_its_token_most(name: str, opened: Any) -> None:
    """With the vision tower's attention ablated, each token is of its own patches alone."""
    model, picture = opened(name), Image.new("RGB", (120, 72), (40, 60, 80))
    towers = {site.tower for site in ask(model, picture, target="a").sites}
    edits = [Ablate(None, None, tower=tower) for tower in towers & {"vision", "visual"}]

    def values(image: Image.Image) -> tuple[Trace, torch.Tensor]:
        found = ask(model, image, target="a", edits=edits)
        return found, found.pattern(site_of_words(found)).v[0]

    before, plain = values(picture)
    dice = np.random.default_rng(0)
    for grid in before.key_pictures(site_of_words(before)):
        cells = [(r, c) for r in range(grid.rows) for c in range(grid.cols)]
        inside = [
            cell for cell in cells if 0 <= min(grid.cell(*cell)) <= max(grid.cell(*cell)) <= 1
        ]
        if not inside:
            continue  # a margin of the tower
        row, col = inside[dice.integers(len(inside))]
        _, changed = values(painted(picture, grid, row, col))
        change = (changed - plain).norm(dim=-1).sum(0)[grid.places]
        most = divmod(int(change.argmax()), grid.cols)
        assert most == (row, col), grid.name


@pytest.mark.parametrize("name", IN_TEXT)
def test_two_pictures_have_grids_of_their_own(name: str, opened: Any) -> None:
    model = opened(name)
    if name == "Florence-2":
        with pytest.raises(ValueError, match="images"):
            ask(model, photo(), photo(30, 50), target="a")
        return
    found = ask(model, photo(), photo(30, 50, seed=1), target="a dog")
    grids = found.key_pictures(site_of_words(found))
    assert {grid.picture for grid in grids} == {0, 1}
    labels = found.key_labels(site_of_words(found))
    second = next(grid for grid in grids if grid.picture == 1)
    assert labels[int(second.places[0, 0])].startswith("picture 2, ")
    order = [int(grid.places.min()) for grid in grids]
    assert order == sorted(order)


def test_windows_of_the_vision_tower_are_undone(opened: Any) -> None:
    """Qwen2.5-VL's tower holds squares in the order of windows: grids tell the patch's place."""
    found = ask(opened("Qwen2.5-VL"), target="a")
    site = next(site for site in found.sites if site.tower == "visual")
    (grid,) = found.key_pictures(site)
    labels = found.key_labels(site)
    for row, line in enumerate(grid.places.tolist()):
        assert [labels[place] for place in line] == [f"patch {row},{c}" for c in range(grid.cols)]
    assert grid.places.flatten().tolist() != sorted(grid.places.flatten().tolist())


def test_tiles_are_items_of_the_vision_tower(opened: Any) -> None:
    found = ask(opened("Idefics3"), target="a")
    site = found.sites[0]
    names = [found.key_pictures(site, item)[0].name for item in range(len(found.queries(site)))]
    assert (names[:2], names[-1]) == (["tile 1", "tile 2"], "")
    box = found.key_pictures(site, 1)[0].box
    assert box == pytest.approx((1 / 3, 0, 2 / 3, 1 / 2), abs=0.02)


def test_a_cropped_picture_says_what_is_left_of_it(opened: Any) -> None:
    """50 × 30 pixels become 33 × 20, of which the middle 20 × 20 are seen."""
    found = ask(opened("LLaVA"), target="a")
    (grid,) = found.key_pictures(site_of_words(found))
    assert grid.box == pytest.approx((0.2, 0, 0.8, 1), abs=0.03)


# --- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_what_the_traced_pass_gives(name: str, opened: Any) -> None:
    """Teacher-forced, each row tells the token that was written greedily with a cache."""
    found = ask(opened(name))
    tokens = found.target_tokens or found.tokens
    first = 1 if found.answer is None else found.answer
    ids = tokens[0].ids[first:]
    assert len(ids) == (4 if found.answer is not None else len(tokens[0]) - 1)
    told = found.output.values[0].argmax(-1)[first - 1 : first - 1 + len(ids)]
    assert told.tolist() == list(ids)
    assert any("greedily" in note for note in found.notes)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_is_given_is_read(name: str, opened: Any) -> None:
    found = ask(opened(name), target="a dog sits here")
    tokens, first = grounding.answer(found)
    assert tokens.labels == ("a", "dog", "sits", "here")
    assert len(found.output.row(first + 2)) == VOCAB  # of the row that writes "here"
    assert not any("greedily" in note for note in found.notes)
    if name != "Florence-2":
        assert ask(opened(name), target="").answer == found.answer


# --- the text -----------------------------------------------------------------------------------


def test_the_chat_template_is_applied(opened: Any) -> None:
    found = ask(opened("LLaVA"), target="a")
    assert found.labels[:2] == ["User", ":"]
    assert found.labels[-3:] == ["Assistant", ":", "a"] or found.labels[-2:] == [":", "a"]
    plain = trace(opened("LLaVA"), Prompt("it ?"), "a")
    assert plain.labels[:3] == ["User", ":", "it"]


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("{{ raise_exception('no system\\nprompt') }}", "no system$"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", ""),
    ],
)
def test_a_template_that_does_not_run_or_reaches_for_python_is_refused_in_one_line(
    template: str, line: str, tmp_path: Path
) -> None:
    folder = BY_NAME["LLaVA"].save(tmp_path)
    (folder / "chat_template.jinja").write_text(template)
    with pytest.raises(ValueError, match=rf"^the model's chat template: {line}"):
        ask(load(str(folder)))


def test_a_begin_symbol_of_the_template_is_not_written_twice(tmp_path: Path) -> None:
    folder = BY_NAME["Qwen2-VL"].save(tmp_path)
    file = folder / "chat_template.jinja"
    file.write_text("<s>" + file.read_text())
    reader = Tokenizer.from_file(str(folder / "tokenizer.json"))
    reader.post_processor = TemplateProcessing(
        single="<s> $A", pair="<s> $A $B:1", special_tokens=[("<s>", 1)]
    )
    reader.save(str(folder / "tokenizer.json"))
    model = load(str(folder))
    for asked in (Prompt("it", (photo(),)), Prompt("it")):
        labels = trace(model, asked, "a").labels
        assert labels[:2] == ["<s>", "User"]


# --- without the library's processor ------------------------------------------------------------


def test_settings_that_an_older_checkpoint_leaves_out_are_the_config_s(tmp_path: Path) -> None:
    folder = BY_NAME["LLaVA"].save(tmp_path)
    (folder / "processor_config.json").write_text('{"processor_class": "LlavaProcessor"}')
    processor = joint_processor(load(str(folder)))
    assert processor is not None
    assert (processor.patch_size, processor.vision_feature_select_strategy) == (4, "default")


def test_a_family_whose_grid_is_not_known_shows_tokens_and_says_why(opened: Any) -> None:
    found = ask(opened("BLIP-2"), target="a")
    words = [site for site in found.sites if site.tower == "language"]
    assert not any(found.key_pictures(site) for site in words)
    assert found.labels[:7] == [f"image token {number}" for number in range(7)]
    assert found.image_tokens == (tuple(range(7)),)
    assert not any(found.tokens[0].special[:7])
    why = "image tokens are shown without a picture: its image tokens are learned queries"
    assert any(note.startswith(why) for note in found.notes)


def test_pixels_whose_cut_is_not_known_get_no_grid(opened: Any) -> None:
    model = opened("InternVL")
    ids = torch.tensor([[60, *[IMAGE] * 27, 61]])
    found = trace(model, {"input_ids": ids, "pixel_values": torch.zeros(3, 3, 24, 24)})
    assert not found.key_pictures(found.sites[-1])
    assert any("told by a prompt" in note for note in found.notes)


def test_the_library_s_own_inputs_have_the_grids_of_the_prompt(opened: Any) -> None:
    model = opened("Qwen2-VL")
    processor = joint_processor(model)
    assert processor is not None
    text = "<start_img><image><end_img> what"
    given = processor(images=[photo()], text=[text], return_tensors="pt")
    found = trace(model, given)
    assert [(g.rows, g.cols) for g in found.key_pictures(found.sites[-1])] == [(4, 6)]


# --- what cannot be read ------------------------------------------------------------------------


def test_pictures_for_a_model_of_text_are_refused(tmp_path: Path) -> None:
    config = transformers.LlamaConfig(**BY_NAME["LLaVA"].sizes["text_config"])
    transformers.LlamaForCausalLM(config).eval().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="reads no pictures, received 1"):
        trace(load(str(tmp_path)), Prompt("what", (photo(),)))


def test_a_network_made_here_reads_the_text_or_the_picture_of_a_prompt() -> None:
    encoder = load(EncoderConfig(vocab=50, dim=8, heads=2, depth=1))
    assert trace(encoder, Prompt("a dog")).labels == ["a", "dog"]
    vit = load(ViTConfig(image=8, patch=4, dim=8, heads=2, depth=1))
    assert trace(vit, Prompt("", (photo(),))).grid == (2, 2)
    with pytest.raises(ValueError, match="a text, or a single picture"):
        trace(encoder, Prompt("a dog", (photo(),)))


@pytest.mark.parametrize(
    ("prompt", "target", "line"),
    [
        (Prompt("it", [photo()] * 13), None, "pictures: expected at most 12 in a prompt"),
        (Prompt("it", (photo(),)), ["a", "b"], "target: expected a text or ids, received list"),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused(
    prompt: Prompt, target: Any, line: str, opened: Any
) -> None:
    with pytest.raises(ValueError, match=line):
        trace(opened("LLaVA"), prompt, target)
