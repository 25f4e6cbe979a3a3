"""The HTTP API of the browser views: routes, validated input, bounded work."""

from viz.api.registry import registry

__all__ = ["registry"]
