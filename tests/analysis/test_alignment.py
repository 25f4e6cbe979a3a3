"""Word times of speech: warping, a planted map of tokens by time, files, and Whisper on speech."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.alignment import (
    Word,
    align,
    aligning_heads,
    as_srt,
    heads_of,
    seconds_per_frame,
    transcript,
    warp,
)
from models.attention import Pattern
from models.run import load, trace
from models.text import Tokens
from models.trace import Output, Site, Sound, TokenAxis, Trace
from tests.fetched import fetched
from tests.models.speech import has_synthesizer, speak

# --- warping --------------------------------------------------------------------------------------


def plain_warp(cost: np.ndarray) -> tuple[list[int], list[int]]:
    """The same path by two loops."""
    rows, cols = cost.shape
    total = np.full((rows + 1, cols + 1), np.inf)
    total[0, 0] = 0
    came: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(1, rows + 1):
        for col in range(1, cols + 1):
            both, up, left = total[row - 1, col - 1], total[row - 1, col], total[row, col - 1]
            if both < up and both < left:
                best, before = both, (row - 1, col - 1)
            elif up < both and up < left:
                best, before = up, (row - 1, col)
            else:
                best, before = left, (row, col - 1)
            total[row, col], came[row, col] = cost[row - 1, col - 1] + best, before
    place, steps = (rows, cols), []
    while place[0] and place[1]:
        steps.append((place[0] - 1, place[1] - 1))
        place = came[place]
    steps += [(0, col - 1) for col in range(place[1], 0, -1) if not place[0]]
    pairs = sorted(steps)
    return [row for row, _ in pairs], [col for _, col in pairs]


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 7), (5, 5), (7, 31), (11, 13)])
def test_the_path_is_that_of_plain_loops(rows: int, cols: int) -> None:
    for seed in range(5):
        cost = np.random.default_rng(seed).normal(size=(rows, cols))
        own, other = warp(cost), plain_warp(cost)
        assert (own[0].tolist(), own[1].tolist()) == other


# --- a planted map --------------------------------------------------------------------------------

LABELS = ("<begin>", "<|notimestamps|>", " The", " qu", "ick", " fox", ".", " It", " ran")
STARTS = (10, 14, 19, 23, 30, 36, 40)  # the frame at which each token of the transcript begins
HEARD, FRAMES = 50, 80
STEP = 0.02


def planted(labels: Sequence[str] = LABELS, starts: Sequence[int] = STARTS) -> Trace:
    """One layer of three heads: head 1 follows time, head 0 stays, head 2 goes backwards."""
    special = tuple(label.startswith("<") for label in labels)
    count = len(labels)
    zeros = (0,) * count
    texts = tuple(re.sub(r" 1/\d$|<.*| ?\S+ [2-9]/\d$", "", label) for label in labels)
    numbers, none = tuple(range(count)), (None,) * count
    tokens = Tokens(numbers, tuple(labels), special, zeros, none, texts)
    scores = torch.zeros(3, count, FRAMES)
    front = sum(special)
    ends = [*starts, HEARD]
    for index in range(len(starts)):
        row = front + index - 1  # tells the token after it
        scores[1, row, ends[index] : ends[index + 1]] = 9.0
        scores[2, row, HEARD - ends[index + 1] : HEARD - ends[index]] = 9.0
    scores[1, count - 1, HEARD - 3 :] = 9.0  # the end
    scores[1, :, HEARD:] = 20.0  # silence, which is cut off
    scores[0, :, 5] = 9.0
    k = torch.eye(FRAMES)[None, None].expand(1, 3, -1, -1).contiguous()
    pattern = Pattern(scores[None] * FRAMES**0.5, k, k)
    site = Site(0, "cross", 3, count, FRAMES, "decoder")
    frames = Tokens.of_ids(range(FRAMES))
    return Trace(
        "planted",
        False,
        (frames,),
        (site,),
        Output("logits", torch.zeros(1, count, 3)),
        (pattern,),
        target_tokens=(tokens,),
        axes={site: (TokenAxis((tokens,)), TokenAxis((frames,)))},
        sound=Sound(FRAMES * STEP, (HEARD * STEP,)),
        aligning=((0, 1),),
    )


def test_words_of_a_planted_map_have_its_times() -> None:
    found = align(planted())
    assert [word.text for word in found] == ["The", "quick", "fox.", "It", "ran"]
    assert [word.start for word in found][1:] == pytest.approx([0.28, 0.46, 0.72, 0.8], abs=0.021)
    ends = [word.end for word in found]
    assert ends == pytest.approx([0.28, 0.46, 0.6, 0.8, 0.96], abs=0.041)
    for before, after in pairwise(found):
        assert before.start <= before.end <= after.start + 1e-9


def test_the_finder_finds_the_planted_head() -> None:
    assert aligning_heads(planted()) == [(0, 1), (0, 0), (0, 2)]  # head 2 crosses the path once


def test_heads_are_those_of_the_checkpoint_else_those_that_follow_time() -> None:
    t = planted()
    assert t.sound is not None
    assert heads_of(t) == [(0, 1)]
    unnamed = replace(t, aligning=())
    assert heads_of(unnamed)[0] == (0, 1)
    assert len(heads_of(unnamed)) == 3


def test_what_has_no_words_is_refused() -> None:
    with pytest.raises(ValueError, match="the trace of a recording"):
        align(replace(planted(), sound=None))
    empty = planted(("<begin>", "<|notimestamps|>"), ())
    with pytest.raises(ValueError, match="the transcript is empty"):
        transcript(empty)
    assert seconds_per_frame(planted()) == pytest.approx(STEP)


# --- files ----------------------------------------------------------------------------------------

WORDS = [Word("Say", 0.5, 0.75), Word('"hi".', 0.75, 1.25), Word("Bye", 61.0, 3661.5)]


def test_subtitles() -> None:
    assert as_srt(WORDS) == (
        '1\n00:00:00,500 --> 00:00:01,250\nSay "hi".\n\n2\n00:01:01,000 --> 01:01:01,500\nBye\n'
    )
    long = [Word("abcdefghij", float(index), index + 1.0) for index in range(9)]
    lines = as_srt(long).split("\n\n")
    assert all(len(block.split("\n")[2]) <= 42 for block in lines)


# --- Whisper --------------------------------------------------------------------------------------

TEXT = "The quick brown fox jumps over the lazy dog. My friends went to the market."


def own_method(model: Any, t: Trace, text: str) -> list[float]:
    """The starts of words by the procedure of openai-whisper, written down once more.

    Source: openai/whisper, timing.py, `find_alignment`: eager weights of a pass that reads the end
    symbol as well.
    """
    network = model.network
    ids = [*model.tokenizer.encode(text).ids]
    arguments = {"input_features": t.origin.inputs.arguments["input_features"]}  # pyright: ignore
    before = network.config._attn_implementation
    network.set_attn_implementation("eager")
    with torch.no_grad():
        out = network(**arguments, decoder_input_ids=torch.tensor([ids]), output_attentions=True)
    network.set_attn_implementation(before)
    assert t.sound is not None
    frames = int(t.sound.heard[0] / 0.02)
    chosen = torch.stack([out.cross_attentions[layer][0, head] for layer, head in t.aligning])
    chosen = chosen[..., :frames] / chosen[..., :frames].sum(-1, keepdim=True)
    chosen = (chosen - chosen.mean(1, keepdim=True)) / chosen.std(1, keepdim=True, correction=0)
    padded = np.pad(chosen.numpy(), ((0, 0), (0, 0), (3, 3)), mode="reflect")
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(padded, 7, axis=-1), axis=-1)
    rows, cols = plain_warp(-smooth.mean(0)[1:-1].astype(np.float64))
    first = dict(reversed(list(zip(rows, cols, strict=True))))
    labels = model.tokenizer.encode(text).labels[2:-1]
    begins = [place for place, label in enumerate(labels) if label.startswith(" ") or place == 0]
    return [first[place] * 0.02 for place in begins]


@pytest.mark.long
def test_word_times_of_whisper_are_those_of_its_own_method(tmp_path: Path) -> None:
    """Beside onsets that are known."""
    fetched("whisper")
    if not has_synthesizer():
        pytest.skip("the package index has no synthesizer for this platform")
    model, file = load("whisper"), tmp_path / "said.wav"
    onsets = [onset.seconds for onset in speak(TEXT, None, file)]
    t = trace(model, str(file), TEXT)
    starts = [word.start for word in align(t)]
    assert np.median(np.abs(np.subtract(starts, own_method(model, t, TEXT)))) < 0.021
    assert np.median(np.abs(np.subtract(starts, onsets))) < 0.1
    found = [word.start for word in align(t, heads=aligning_heads(t))]
    assert np.median(np.abs(np.subtract(found, onsets))) < 0.1
