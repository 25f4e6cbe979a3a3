"""How often a reader would connect the words that are worth seeing: `python -m benchmarks.worth`.

`worth.txt` has sentences, and the pairs of words that a reader would connect in each.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from analysis.worth import Worth, worth
from benchmarks.measure import Table, command
from models.model import Model
from models.run import load, trace

FILE = Path(__file__).with_suffix(".txt")
COLUMNS = {"first row": ("first", "texts"), "any": ("any", "texts"), "all": ("right", "rows")}


@command
def main() -> Iterator[object]:
    counts: dict[str, Counter[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines()[1:]:
        name, _, rest = line.partition(": ")
        text, _, pairs = rest.partition(" | ")
        good = {frozenset(pair.split("-")) for pair in pairs.split()}
        right = [_pair(row) in good for row in _rows(name, text)]
        now = Counter(first=right[0], any=any(right), right=sum(right), rows=len(right), texts=1)
        counts.setdefault(name, Counter()).update(now)
    rows = [
        [name, *(f"{n[some]} of {n[total]}" for some, total in COLUMNS.values())]
        for name, n in counts.items()
    ]
    yield Table(["connects such a pair", *COLUMNS], rows)


def _rows(name: str, text: str) -> list[Worth]:
    model = _opened(name)
    readers = (model.tokenizer, model.target_tokenizer)
    return worth(trace(model, text), *(getattr(each, "words", None) for each in readers))


@cache
def _opened(name: str) -> Model:
    return load(name)


def _pair(row: Worth) -> frozenset[str]:
    """The two words; of cross-attention, the one that is written."""
    written = row.reason.partition("“")[2].strip("”")
    return frozenset(word.casefold() for word in (written or row.words[0], row.words[1]))


if __name__ == "__main__":
    sys.exit(main())
