"""English that any machine with Python has: the sentences of its standard library's docstrings."""

import ast
import re
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "__pycache__"}
PLAIN = re.compile(r"[A-Z][A-Za-z0-9 ,;:'’\"()/.\-]+[.!?]")
ENDS = re.compile(r"(?<=[.!?]) (?=[A-Z])")
WORDS = range(4, 41)  # in a sentence


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
