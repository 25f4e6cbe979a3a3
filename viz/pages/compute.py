"""What pages share of the models, imported on first use (see `viz.pages.lazy`)."""

from models.run import devices as devices
from models.tracing import decoded as decoded
