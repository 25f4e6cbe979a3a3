# make app    start Headscope: installs into .venv the first time, opens the browser
# make test   install what the tests need and run every check
# make clean  remove .venv and everything the tools left behind
PYTHON ?= python3

.PHONY: app test clean

app:
	@$(PYTHON) start.py

test:
	@$(PYTHON) -m tests.run

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis test-results viz/components/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
