"""Heads: what the heads of a model do over a corpus."""
