"""Presets: published networks by name (presets.toml), and those that were trained here.

Nothing here needs torch until a config is asked for.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.catalogue import CHECKPOINTS, bundled, read_config

if TYPE_CHECKING:
    from models.model import Config

CONFIGS = {
    "encoder": ("models.encoder", "EncoderConfig"),
    "decoder": ("models.decoder", "DecoderConfig"),
    "seq2seq": ("models.seq2seq", "Seq2SeqConfig"),
    "vit": ("models.vit", "ViTConfig"),
    "smallest": ("models.smallest", "SmallestConfig"),
    "layer": ("models.layer", "AttentionLayerConfig"),
}
KINDS = tuple(CONFIGS)


@dataclass(frozen=True)
class Preset:
    """One named network.

    Attributes:
        title: for readers.
        kind: one of `KINDS`.
        source: where it comes from; empty for sizes to play with.
        fields: of its config; the rest are that config's defaults.
        model: of the catalogue, if its weights come with the app; else they are random.
    """

    title: str
    kind: str
    source: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)
    model: str = ""

    @property
    def config(self) -> "Config":
        return config_of(self.kind, self.fields)


def config_of(kind: str, fields: Mapping[str, Any]) -> "Config":
    """A config of this kind.

    Raises:
        ValueError: for fields that do not fit together, or another kind.
    """
    if kind not in CONFIGS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}, received {kind!r}")
    module, name = CONFIGS[kind]
    return getattr(import_module(module), name)(**fields)


def _named() -> dict[str, Preset]:
    """The presets of presets.toml, then the models that were trained here."""
    named = tomllib.loads((Path(__file__).parent / "presets.toml").read_text(encoding="utf-8"))
    presets = {
        name: Preset(**preset | {"fields": _plain(preset.get("fields", {}))})
        for name, preset in named.items()
    }
    for entry in (entry for entry in bundled() if entry.trained_here):
        config = read_config(CHECKPOINTS / entry.folder).get("config", {})
        title, name = f"{entry.title} (trained)", entry.name
        presets[f"trained-{name}"] = Preset(title, entry.kind, "", _plain(config), name)
    return presets


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as configs take them, from a file without tuples, and perhaps without a null."""
    plain = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    return plain | ({"dim": None} if plain.get("dim") == "none" else {})


PRESETS: dict[str, Preset] = _named()


def first_of(kind: str) -> str:
    """The name of the first preset of a kind."""
    return next(name for name, preset in PRESETS.items() if preset.kind == kind)
