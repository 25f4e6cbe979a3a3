"""The name of the page, which its widgets' keys begin with, and what it opens with."""

PAGE = "corpus"
FIRST = "minilm"  # the run that is shown first, and the model that reads
