"""The lessons of the course: a folder for each, with its texts and its numbers.

Its figure is drawn by the browser module of the same name in
`viz/web/figures/`.
"""
