"""Times of words as files: JSON and subtitles (SRT)."""

import json
from collections.abc import Sequence

from analysis.alignment import Word

MOST_CHARACTERS = 42  # of a line of subtitles


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
