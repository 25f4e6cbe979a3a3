"""Pictures: arrays and labels in, figures or bytes out."""

__version__ = "0.1.0"
SOFTWARE = f"Headscope {__version__}"
