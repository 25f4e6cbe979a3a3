"""Figures and numbers of a trace as files."""

from viz.export.files import export, render

__all__ = ["export", "render"]
