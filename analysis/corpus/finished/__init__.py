"""Runs that come with the app, a folder each; `python -m train.corpora` makes them again."""

from pathlib import Path

FINISHED = Path(__file__).parent
