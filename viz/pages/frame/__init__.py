"""The frame round every page: the bar, the menu, the navigation."""
