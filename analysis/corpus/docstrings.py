"""Texts that any machine can make: the sentences of the docstrings of Python's standard library,
and random tokens that are said twice, over which induction shows.

Source of the latter: Olsson et al. 2022, "In-context Learning and Induction Heads".
"""

import ast
import random
import re
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from models.text import Decoding

if TYPE_CHECKING:
    from models.model import Model


LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "__pycache__"}
PLAIN = re.compile(r"[A-Z][A-Za-z0-9 ,;:'’\"()/.\-]+[.!?]")
ENDS = re.compile(r"(?<=[.!?]) (?=[A-Z])")
WORDS = range(4, 41)  # in a sentence
TWICE = 12  # tokens that are said twice
TRIES = 200  # draws of a text whose second half has the tokens of its first


def sentences(count: int | None = None) -> list[str]:
    """Different sentences, at most `count`, in the order of the files of this Python's library."""
    return list(islice(_different(), count))


def _different() -> Iterator[str]:
    seen = set()
    for path in _files():
        for sentence in _sentences(path):
            if sentence not in seen:
                seen.add(sentence)
                yield sentence


def _files() -> list[Path]:
    """The library's own modules."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = (path.relative_to(root) for path in root.rglob("*.py"))
    return [root / path for path in sorted(paths) if not LEFT_OUT & set(path.parts)]


def _sentences(path: Path) -> Iterator[str]:
    """The plain sentences of a file's docstrings."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):  # templates, and files in other encodings
        return
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(tree):
        said = ast.get_docstring(node) if isinstance(node, kinds) else None
        for paragraph in re.split(r"\n\s*\n", said or ""):
            for sentence in ENDS.split(re.sub(r"\s+", " ", paragraph).strip()):
                if PLAIN.fullmatch(sentence) and len(sentence.split()) in WORDS:
                    yield sentence


def repeated(model: "Model", count: int) -> list[str]:
    """Texts of random tokens of a model's vocabulary, each twice in the same order.

    Raises:
        ValueError: for a model without such a tokenizer.
    """
    tokenizer = model.tokenizer
    if not isinstance(tokenizer, Decoding):
        raise ValueError(f"{model.name} has no tokenizer that writes text")
    dice, vocabulary = random.Random(0), len(tokenizer.words)
    texts: list[str] = []
    for _ in range(count * TRIES):
        if len(texts) == count:
            return texts
        ids = dice.choices(range(vocabulary), k=TWICE)
        once = "".join(tokenizer.text([token]) for token in ids).strip()
        text = f"{once} {once}"
        tokens = tokenizer.encode(text)
        plain = [
            token for token, special in zip(tokens.ids, tokens.special, strict=True) if not special
        ]
        half = len(plain) // 2
        # a first token without the space before it may differ from its repetition
        if half >= TWICE // 2 and plain[1:half] == plain[half + 1 :] and once.isascii():
            texts.append(text)
    raise ValueError(f"{model.name}: its tokens are not the same when their text is repeated")
