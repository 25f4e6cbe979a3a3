"""When the words of a transcript are spoken, by the cross-attention of a speech model.

Some heads of the decoder attend to the sound of the token that they are about to write. Their
weights, brought together, are a map of tokens by time; the cheapest monotone path through it (by
dynamic time warping) tells when each token begins.

Source: Radford et al. 2023 (Whisper), with the procedure of its code, `whisper/timing.py`.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import regex
import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.trace import Site, Tokens, Trace

Head = tuple[int, int]  # layer, head
MEDIAN = 7  # frames of the filter along time
MOST_HEADS = 10
MOST_CHARACTERS = 42  # of a line of subtitles
NEAR = 10  # frames beside a path that still agree with it: 0.2 seconds
# Scripts that write no spaces between words: each of their characters is a word of its own.
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
PUNCTUATION = regex.compile(r"^\s*\p{P}+\s*$")


class Word(NamedTuple):
    """A word and when it is spoken, in seconds."""

    text: str
    start: float
    end: float


def align(t: Trace, *, heads: Sequence[Head] | None = None, item: int = 0) -> list[Word]:
    """The words of the transcript, with the seconds at which each begins and ends.

    Args:
        t: of a recording, with the transcript in its decoder.
        heads: layer and head of those that the times are made from. None: those of `heads_of`.
        item: index in the batch.

    Raises:
        ValueError: for a trace without a recording or a transcript, and heads that are not there.
    """
    tokens, first = transcript(t, item)
    weights, names = _weights(t, item)
    heads = heads_of(t, item=item) if heads is None else heads
    wrong = [head for head in heads if head not in names]
    if wrong or not heads:
        raise ValueError(f"heads: expected layer and head of cross-attention, received {wrong}")
    chosen = weights[[names.index(head) for head in heads]]
    rows, frames = warp(-_normalised(chosen).mean(0)[first - 1 :].double().numpy())
    starts = frames[np.flatnonzero(np.diff(rows, prepend=-1))] * seconds_per_frame(t)
    return [
        Word(text, float(starts[places[0]]), float(starts[places[-1] + 1]))
        for text, places in spoken(tokens)
    ]


def heads_of(t: Trace, *, item: int = 0) -> list[Head]:
    """Layer and head of those that `align` makes the times from where it is given none: those that
    the checkpoint names; without any, those of `aligning_heads`."""
    return list(t.aligning) or aligning_heads(t, item=item)


def transcript(t: Trace, item: int = 0) -> tuple[Tokens, int]:
    """The tokens of the transcript, and the place of the first one among the decoder's.

    Raises:
        ValueError: for a trace without a recording, or with an empty transcript.
    """
    if t.sound is None or t.target_tokens is None:
        raise ValueError("expected the trace of a recording by a model that writes it down")
    tokens = t.target_tokens[item]
    text = [place for place, is_special in enumerate(tokens.special) if not is_special]
    if not text or not text[0]:
        raise ValueError("the transcript is empty: there is nothing to align")
    return tokens[text[0] : text[-1] + 1], text[0]


def seconds_per_frame(t: Trace) -> float:
    """The time from one key of cross-attention to the next."""
    if t.sound is None:
        raise ValueError("expected the trace of a recording")
    return t.sound.seconds / _crossed(t)[0].keys


def _crossed(t: Trace) -> list[Site]:
    sites = [site for site in t.sites if site.kind == "cross"]
    if not sites:
        raise ValueError(f"{t.model} has no cross-attention to a recording")
    return sites


def _weights(t: Trace, item: int) -> tuple[Float[Tensor, "head token frame"], list[Head]]:
    """The weights of every cross-attention head on the frames that were heard, filtered in time.

    The softmax is over those frames alone, as in Whisper's own code.
    """
    tokens, first = transcript(t, item)
    rows = range(first + len(tokens))
    sites = _crossed(t)
    frames = 0 if t.sound is None else t.sound.frames_heard(sites[0].keys, item)
    frames = frames or sites[0].keys
    maps, names = [], []
    for site in sites:
        scores = t.scores(site, rows=rows, item=item)[..., : min(frames, site.keys)]
        maps.append(scores.softmax(-1))
        names += [(site.layer, head) for head in range(site.heads)]
    return torch.cat(maps).cpu(), names


def _normalised(weights: Float[Tensor, "head token frame"]) -> Float[Tensor, "head token frame"]:
    """Weights in units that heads share, smoothed along time; edges are mirrored."""
    from scipy.ndimage import median_filter

    deviation, mean = torch.std_mean(weights, dim=-2, keepdim=True, correction=0)
    units = (weights - mean) / torch.where(deviation > 0, deviation, 1)
    return torch.from_numpy(median_filter(units.numpy(), (1, 1, MEDIAN), mode="mirror"))


# --- the path -------------------------------------------------------------------------------------


def warp(
    cost: Float[np.ndarray, "row col"],
) -> tuple[Int[np.ndarray, " step"], Int[np.ndarray, " step"]]:
    """The cheapest path from the first cell to the last that never goes back, in either axis.

    Each diagonal of cells is computed at once. Of equal ways a step along both axes is preferred
    only where it is cheaper than both others, and a step along the rows before one along the
    columns likewise.

    Returns:
        Rows and columns of the path.
    """
    rows, cols = cost.shape
    total = np.full((rows + 1, cols + 1), np.inf)
    total[0, 0] = 0
    came = np.zeros((rows + 1, cols + 1), dtype=np.int8)
    for diagonal in range(2, rows + cols + 1):
        row = np.arange(max(1, diagonal - cols), min(rows, diagonal - 1) + 1)
        col = diagonal - row
        ways = np.stack([total[row - 1, col - 1], total[row - 1, col], total[row, col - 1]])
        both = (ways[0] < ways[1]) & (ways[0] < ways[2])
        along_rows = (ways[1] < ways[0]) & (ways[1] < ways[2])
        step = np.where(both, 0, np.where(along_rows, 1, 2))
        total[row, col] = cost[row - 1, col - 1] + ways[step, np.arange(len(row))]
        came[row, col] = step
    came[0, :], came[:, 0] = 2, 1
    row, col, path = rows, cols, []
    while row or col:
        path.append((row - 1, col - 1))
        step = came[row, col]
        row, col = row - int(step in (0, 1)), col - int(step in (0, 2))
    steps = np.array([each for each in path if min(each) >= 0][::-1])
    return steps[:, 0], steps[:, 1]


def aligning_heads(t: Trace, *, item: int = 0) -> list[Head]:
    """The heads that follow time best, the best first, for a checkpoint that names none.

    Monotony is Spearman's rank correlation of a head's strongest frames with the order of tokens.
    The most monotone heads give a common path, and the order is by monotony times the share of a
    head's weight that lies beside that path.
    """
    _, first = transcript(t, item)
    weights, names = _weights(t, item)
    cells = weights[:, first - 1 :]
    monotony = torch.tensor([_rank_correlation(each.argmax(-1)) for each in cells])
    chosen = weights[monotony.argsort(descending=True, stable=True)[:MOST_HEADS]]
    matrix = _normalised(chosen).mean(0)[first - 1 :]
    rows, frames = (torch.from_numpy(each) for each in warp(-matrix.double().numpy()))
    near = torch.zeros(matrix.shape, dtype=torch.bool)
    for offset in range(-NEAR, NEAR + 1):
        near[rows, (frames + offset).clamp(0, matrix.shape[1] - 1)] = True
    score = monotony.clamp(min=0.0) * (cells * near).sum(-1).mean(-1)
    return [names[n] for n in score.argsort(descending=True, stable=True)[:MOST_HEADS]]


def _rank_correlation(frames: Int[Tensor, " token"]) -> float:
    """Spearman's correlation of the frames with their order; 0 where all are equal."""
    from scipy.stats import spearmanr

    if len(frames.unique()) < 2:
        return 0.0
    correlation: Any = spearmanr(frames.numpy(), np.arange(len(frames)))
    return float(correlation.statistic)


# --- words ----------------------------------------------------------------------------------------


def spoken(tokens: Tokens) -> list[tuple[str, list[int]]]:
    """The words of a transcript in the order of `align`: text with punctuation, and tokens without.

    Punctuation is written to the word before it, which ends where the punctuation begins.
    """
    groups: list[list[int]] = []
    for place in range(len(tokens)):
        if not groups or (tokens.texts[place] and _begins(tokens.labels, place)):
            groups.append([])
        groups[-1].append(place)
    words: list[tuple[str, list[int]]] = []
    for group in groups:
        text = "".join(tokens.texts[place] for place in group)
        if words and PUNCTUATION.match(text):
            words[-1] = words[-1][0] + text.strip(), words[-1][1]
        elif text.strip():
            words.append((text.strip(), group))
    return words


def _begins(labels: Sequence[str], place: int) -> bool:
    """Whether a token begins a word, or is punctuation."""
    label, before = labels[place], labels[place - 1]
    spaced = label[:1].isspace() or UNSPACED.match(label) is not None
    return spaced or (PUNCTUATION.match(label) is not None) != (
        PUNCTUATION.match(before) is not None
    )


# --- files of times: JSON and subtitles (SRT) ----------------------------------------------------


def as_json(words: Sequence[Word]) -> str:
    """A list of objects with word, start and end, in seconds."""
    rows = [
        {"word": text, "start": round(start, 3), "end": round(end, 3)} for text, start, end in words
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1)


def as_srt(words: Sequence[Word]) -> str:
    """Subtitles, a line of words each."""
    blocks = []
    for number, line in enumerate(_lines(words), start=1):
        times = f"{_clock(line[0].start)} --> {_clock(line[-1].end)}"
        blocks.append(f"{number}\n{times}\n{' '.join(word.text for word in line)}\n")
    return "\n".join(blocks)


def _lines(words: Sequence[Word]) -> list[list[Word]]:
    """Words in lines that are not too long; one that ends a sentence ends its line."""
    lines: list[list[Word]] = []
    for word in words:
        full = bool(lines) and sum(len(w.text) + 1 for w in lines[-1]) + len(word.text)
        ended = bool(lines) and lines[-1][-1].text.endswith((".", "!", "?", "。"))
        if not lines or full > MOST_CHARACTERS or ended:
            lines.append([])
        lines[-1].append(word)
    return lines


def _clock(seconds: float) -> str:
    """Hours, minutes, seconds and thousandths: 00:01:02,345."""
    thousandths = round(seconds * 1000)
    hours, rest = divmod(thousandths, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02d}:{minutes:02d}:{rest // 1000:02d},{rest % 1000:03d}"
