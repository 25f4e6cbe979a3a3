"""The frame around every page: bar, menu, navigation."""
