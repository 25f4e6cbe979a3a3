# make app       start Headscope: installs into .venv and fetches two pretrained models the first
#                time (180 MB; MODELS=small make app does without), opens the browser
# make desktop   the same in a window of its own; closing it ends the server
# make notebook  open the worked notebooks in JupyterLab
# make test      install what the tests need and run every check
# make check     the long tests too, before a release; the result goes to docs/check.md
# make reference  write the reference of the public calls to build/reference, after make test
# make lines     count the lines of every room; fails above the ceilings of pyproject.toml
# make clean     remove .venv and everything the tools left behind
PYTHON ?= python3

.PHONY: app desktop notebook test check reference lines clean

app:
	@$(PYTHON) start.py

desktop:
	@$(PYTHON) start.py --desktop

notebook:
	@$(PYTHON) start.py --notebook

test:
	@$(PYTHON) -m tests.run

check:
	@$(PYTHON) -m tests.run --long --write

reference:
	@.venv/bin/python -m tests.reference

lines:
	@$(PYTHON) -m tests.lines

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis test-results viz/components/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
