"""Figures and numbers of a trace as files."""

from viz.export.files import export, figure, render

__all__ = ["export", "figure", "render"]
