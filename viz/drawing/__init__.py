"""Figures for papers and slides: arrays and labels in, a scene out; a scene as SVG, PDF or PNG."""
