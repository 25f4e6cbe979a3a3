"""Videos: frames as tubes of patches, for tiny checkpoints of the families that read them."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from analysis import grounding, masking
from models.edits import Ablate
from models.encoder import EncoderConfig
from models.inputs.processor import joint_processor
from models.inputs.prompt import Prompt, reads_videos
from models.inputs.video import FrameProcessor, Video, read_video
from models.model import Model
from models.picture_grid import Box
from models.run import load, trace
from models.trace import Site, Trace
from models.verify import verify
from tests.models.architectures import SIZES as TINY
from tests.models.vision_language import BY_NAME, VIDEO, photo

READING = ["Qwen2-VL", "Qwen2.5-VL", "Qwen3-VL"]
QUESTION = "what is on the picture"
MEAN, STD = torch.tensor([0.48, 0.46, 0.41]), torch.tensor([0.27, 0.26, 0.28])
LEVELS = {"image_mean": MEAN.tolist(), "image_std": STD.tolist()}
ROUNDING = 1e-3  # of float32 in other kernels, in networks whose weights are drawn wide


def film(count: int, **more: Any) -> Video:
    return Video([photo(seed=number) for number in range(count)], **more)


def ask(model: Model, video: Video, target: Any = "a dog", **more: Any) -> Trace:
    return trace(model, Prompt(QUESTION, video=video, most_written=4), target, **more)


def site_of_words(t: Trace) -> Site:
    return grounding.sites_on_pictures(t)[0]


def gif(frames: list[Image.Image], duration: int = 250) -> bytes:
    file = io.BytesIO()
    first, *more = frames
    first.save(file, "GIF", save_all=True, append_images=more, duration=duration, loop=0)
    return file.getvalue()


def plain(count: int) -> list[Image.Image]:
    """Pictures of one colour each, which GIFs keep."""
    return [Image.new("RGB", (50, 30), (40 * number, 80, 200)) for number in range(count)]


# --- patches ------------------------------------------------------------------------------------


def processor_of(family: str, **settings: Any) -> FrameProcessor:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    made: Any = Qwen2VLImageProcessorPil
    images = made(**TINY["qwen_pictures"], **LEVELS)
    return FrameProcessor(images, family, {"size": TINY["qwen_pictures"]["size"], **settings})


def patches(processor: FrameProcessor, frames: list[Image.Image]) -> tuple[Tensor, list[list[int]]]:
    made = processor([frames], video_metadata=[None])
    return made["pixel_values_videos"], made["video_grid_thw"].tolist()


@pytest.mark.parametrize("count", [2, 5])
def test_patches_are_those_of_the_library_s_video_processor(count: int) -> None:
    """Its own cut into patches, of frames resized and scaled here."""
    from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor

    frames = [photo(seed=number) for number in range(count)]
    values, grid = patches(processor_of("qwen2_vl"), frames)
    resized = [frame.resize((48, 32), Image.Resampling.BICUBIC) for frame in frames]
    levels = torch.stack([torch.from_numpy(np.array(each)) for each in resized]) / 255
    scaled = ((levels - MEAN) / STD).permute(0, 3, 1, 2)[None]
    cut: Any = Qwen3VLVideoProcessor.patchify
    expected, *sizes = cut(None, scaled, 4, 2, 2)
    assert grid == [sizes] == [[(count + 1) // 2, 8, 12]]
    torch.testing.assert_close(values, expected[0], atol=1e-6, rtol=0)  # a rounding of float32


def test_the_size_of_a_frame_of_qwen3_depends_on_their_number() -> None:
    """At most 4,800 pixels of all frames: four of 50 × 30 are as many as fit in 40 × 24."""
    few, many = (
        processor_of("qwen3_vl", size={"shortest_edge": 64, "longest_edge": 4800}).size_of(
            50, 30, count
        )
        for count in (2, 4)
    )
    assert few == (48, 32)
    assert many == (40, 24)


# --- tokens and maps ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", READING)
def test_two_frames_share_a_grid_of_tokens(name: str, opened: Any) -> None:
    found = ask(opened(name), film(5))
    site = site_of_words(found)
    grids = found.key_pictures(site)
    assert [grid.frames for grid in grids] == [(0, 1), (2, 3), (4,)]
    assert [grid.name for grid in grids] == ["frames 1 and 2", "frames 3 and 4", "frame 5"]
    assert {(grid.picture, grid.rows, grid.cols) for grid in grids} == {(0, 4, 6)}
    ids, labels = found.tokens[0].ids, found.key_labels(site)
    places = [place for grid in grids for place in grid.places.flatten().tolist()]
    assert places == [place for place, id in enumerate(ids) if id == VIDEO]
    assert labels[int(grids[1].places[2, 3])] == "frames 3 and 4, patch 2,3"
    assert any(note.startswith("all 5 frames, read as 48 × 32 pixels") for note in found.notes)
    tower = next(site for site in found.sites if site.tower == "visual")
    assert [grid.frames for grid in found.key_pictures(tower)] == [(0, 1), (2, 3), (4, 5)]


def test_a_vision_tower_names_the_frames_of_a_short_video(opened: Any) -> None:
    found = ask(opened("Qwen3-VL"), film(2))
    tower = next(site for site in found.sites if site.tower == "visual")
    (grid,) = found.key_pictures(tower)
    assert (grid.frames, grid.name) == ((0, 1), "frames 1 and 2")
    assert found.key_labels(tower)[0] == "frame 1, patch 0,0"
    picture = trace(opened("Qwen3-VL"), Prompt(QUESTION, (photo(),)), "a")
    assert picture.key_pictures(tower)[0].frames == ()


@pytest.mark.parametrize("name", READING)
def test_every_map_of_a_video_is_the_library_s(name: str, opened: Any) -> None:
    found = verify(opened(name), Prompt(QUESTION, video=film(4), most_written=3))
    assert found.compared
    assert not found.problems(ROUNDING)


@pytest.mark.parametrize("name", READING)
def test_a_change_of_a_frame_changes_the_token_it_shares(name: str, opened: Any) -> None:
    """With the vision tower's attention ablated, each token is of its own patches alone."""
    model, frames = opened(name), [Image.new("RGB", (120, 72), (40, 60, 80))] * 4
    edits = [Ablate(None, None, tower="visual")]
    plain = ask(model, Video(frames), edits=edits)
    site = site_of_words(plain)
    grids = plain.key_pictures(site)
    for number in (0, 3):
        grid, (row, col) = grids[number // 2], (1, 2)
        left, top, right, bottom = grid.cell(row, col)
        changed = frames[number].copy()
        corners = (round(left * 120), round(top * 72), round(right * 120), round(bottom * 72))
        changed.paste((250, 20, 20), corners)
        other = ask(model, Video([*frames[:number], changed, *frames[number + 1 :]]), edits=edits)
        change = (other.pattern(site).v[0] - plain.pattern(site).v[0]).norm(dim=-1).sum(0)
        assert int(change[: plain.answer].argmax()) == int(grid.places[row, col])


def test_a_change_of_an_area_is_of_the_frames_that_are_masked() -> None:
    prompt = Prompt(QUESTION, video=film(4, fps=3.0))
    area = Box(0.1, 0.2, 0.5, 0.9)
    some = masking.masked(prompt, 0, area, (2, 3)).video
    assert some is not None
    assert some.fps == 3
    before, after = (read_video(each).frames for each in (film(4), some))
    same = [a.tobytes() == b.tobytes() for a, b in zip(before, after, strict=True)]
    assert same == [True, True, False, False]
    assert after[2].tobytes() == masking.painted(before[2], area).tobytes()


def test_need_of_frames_is_that_of_passes_by_hand(opened: Any) -> None:
    model, prompt = opened("Qwen2-VL"), Prompt(QUESTION, video=film(4))
    whole = trace(model, prompt, "a dog")
    ids, area = masking.ids_of(whole), Box(0, 0, 0.5, 0.5)
    tested = masking.need(model, prompt, ids, [1], area, frames=(0, 1), controls=0)
    other = trace(model, masking.masked(prompt, 0, area, (0, 1)), "a dog")
    for found, t in ((tested.before, whole), (tested.after, other)):
        row = t.output.values[0, int(t.answer or 0)].float().softmax(-1)
        assert found == pytest.approx(float(row[ids[1]]), rel=1e-5)


# --- what is read -------------------------------------------------------------------------------


def test_an_animated_picture_is_read_with_its_rate(tmp_path: Path, opened: Any) -> None:
    file = tmp_path / "film.gif"
    file.write_bytes(gif(plain(4)))
    for given in (file, str(file), file.read_bytes()):
        read = read_video(Video(given))
        assert read.fps == pytest.approx(4)
        pixels = [image.getpixel((20, 20)) for image in read.frames]
        assert pixels == [image.getpixel((20, 20)) for image in plain(4)]
    reading = Prompt(QUESTION, video=Video(file))
    processor = joint_processor(opened("Qwen2.5-VL"))
    assert processor is not None
    from models.inputs.prompt import read_prompt

    seconds = read_prompt(opened("Qwen2.5-VL"), reading).arguments["second_per_grid_ts"]
    assert seconds.tolist() == [pytest.approx(0.5)]  # two frames of a quarter of a second
    assert read_video(Video(file, fps=8.0)).fps == 8


def test_an_unstated_rate_is_said(opened: Any) -> None:
    note = "no frame rate is stated: 24 frames a second are assumed"
    assert note in ask(opened("Qwen3-VL"), film(2)).notes
    assert note not in ask(opened("Qwen3-VL"), film(2, fps=2.0)).notes


ONE = "video: expected 2 to 64 frames, received 1"
SIZES = "video: expected frames of one size, received 50 × 30 and 30 × 50"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "video: expected 2 to 64 frames, received 0"),
        ([photo()], ONE),
        ([photo()] * 65, "video: expected 2 to 64 frames, received 65"),
        ([photo(), photo(30, 50)], SIZES),
        ([photo(), b"no picture"], "this is no image that can be read"),
        (gif(plain(1)), ONE),
        (gif(plain(4) * 17), "video: expected 2 to 64 frames, received 68"),
        (b"no picture", "this is no image that can be read"),
        (b"\0\0\0\x18ftypmp42" + bytes(40), "video: no decoder of films here: expected an"),
        ("absent.gif", "expected a video file, received absent.gif: there is none"),
        (7, "video: expected an animated picture or a list of them, received int"),
        (gif(plain(4))[:200], "frame 2 of the video is damaged"),
    ],
)
def test_a_bad_video_is_refused_in_one_line(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}.*$"):
        read_video(Video(given))
    with pytest.raises(ValueError, match="expected 0 to 1000 frames a second"):
        read_video(film(2, fps=-1.0))


def test_a_video_for_a_model_that_reads_none_is_refused(tmp_path: Path, opened: Any) -> None:
    model = load(str(BY_NAME["LLaVA"].save(tmp_path)))
    assert not reads_videos(model)
    assert reads_videos(opened("Qwen2-VL"))
    with pytest.raises(ValueError, match="reads no videos here"):
        ask(model, film(2))
    encoder = load(EncoderConfig(vocab=50, dim=8, heads=2, depth=1))
    with pytest.raises(ValueError, match="a single picture, for a network made here"):
        trace(encoder, Prompt("a dog", video=film(2)))
    with pytest.raises(ValueError, match="expected a video alone"):
        trace(opened("Qwen2-VL"), Prompt("it", (photo(),), video=film(2)))
