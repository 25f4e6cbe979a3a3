"""Benchmarks against common alternatives: `python -m benchmarks.NAME`."""
