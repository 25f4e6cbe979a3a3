"""Checkpoints of our own networks: config and weights need no renaming."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from models.model import BUILT, Config

TYPES: dict[str, tuple[Any, Any]] = {  # model_type: config, network
    f"headscope-{network.__name__.lower()}": (config, network)
    for config, (_, network) in BUILT.items()
}


def settings_of(config: Config) -> dict[str, Any]:
    """The config.json of one of our networks."""
    name = next(name for name, (kind, _) in TYPES.items() if isinstance(config, kind))
    return {"model_type": name, "config": asdict(config)}


def config_of(settings: Mapping[str, Any]) -> Config:
    """The config that a config.json holds; what else it holds is about the training.

    Raises:
        ValueError: for a field that is not one of the config's, or has a value that it refuses.
    """
    kind, _ = TYPES[settings["model_type"]]
    given = settings.get("config")
    if not isinstance(given, Mapping):
        raise ValueError(f"config: expected an object, received {given!r:.40}")
    known = {field.name for field in fields(kind)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"config: expected only {', '.join(sorted(known))}, received {unknown}")
    whole = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    try:
        return kind(**whole)
    except TypeError as error:  # a word where a number is expected
        raise ValueError(f"config: {str(error).splitlines()[0]}") from error
