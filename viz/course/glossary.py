"""The glossary: a one-sentence definition of every term in the lessons, in `glossary.md`."""

from pathlib import Path

from viz.course.reading import parsed_blocks, text_of

_, _LIST = parsed_blocks(Path(__file__).with_suffix(".md").read_text("utf-8"))
TERMS = dict(text_of(item.children[0]).split(": ", 1) for item in _LIST.children)
