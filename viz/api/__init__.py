"""The HTTP API of the browser views: routes, validated input, bounded work."""

from viz.api.registry import registry
from viz.api.routes import routes

__all__ = ["registry", "routes"]
