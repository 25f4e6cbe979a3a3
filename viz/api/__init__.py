"""What a browser view may ask of the app's own server: routes, checked input, bounded work."""

from viz.api.registry import registry
from viz.api.routes import routes

__all__ = ["registry", "routes"]
