"""Everything that a result can be asked for, over HTTP and from a notebook."""

from viz.api import corpus  # noqa: F401
from viz.api.endpoint import ENDPOINTS as ENDPOINTS
from viz.api.routes import routes as routes
from viz.build import answers  # noqa: F401
from viz.export import responses  # noqa: F401
