"""What the heads of a model do over a corpus: `runs.corpus` reads it, `opened` opens results."""
