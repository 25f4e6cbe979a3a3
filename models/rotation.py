"""The rotary positions of a model, as `Evict` rotates kept keys by them."""

from collections.abc import Mapping

from models.decoder import DecoderConfig
from models.model import Model


def rotary_base(model: Model) -> float | None:
    """The base of a model's rotary positions; None where it has no plain ones.

    Frequencies that are scaled, differ from layer to layer or turn a part of each head are not
    plain.
    """
    config = model.network.config
    if isinstance(config, DecoderConfig):
        return config.rotary_base if config.positions == "rotary" else None
    stated = getattr(config, "rope_parameters", None)
    if not isinstance(stated, Mapping) or stated.get("rope_type") != "default":
        return None
    base, share = stated.get("rope_theta"), stated.get("partial_rotary_factor", 1.0)
    return float(base) if isinstance(base, float | int) and share == 1.0 else None
