"""The forms of a view on paper: a module for each, of the same name, with its `PAPER`."""

from dataclasses import replace
from importlib import import_module

from viz.export.paper import Paper
from viz.selection import FORM

PAPERS: dict[str, Paper] = {
    name: replace(import_module(f".{name}", __name__).PAPER, form=form)
    for name, form in FORM.items()
}
