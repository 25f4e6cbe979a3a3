"""The name of the page, which is the prefix of its widget keys."""

PAGE = "explore"
