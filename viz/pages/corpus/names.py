"""The name of the page, which its widgets' keys begin with."""

PAGE = "corpus"
