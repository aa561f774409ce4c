# Every target works as the first command on a fresh clone. It makes its own
# environment in .venv; a stamp there makes the second run start at once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench clean
# Stamps are made by a pattern rule; make must not take them for throw-away files.
.PRECIOUS: $(VENV)/.installed-%

help:
	@echo 'make demo    train a small network on handwritten digits'
	@echo 'make test    run every test (PYTEST_ARGS="-k name" chooses)'
	@echo 'make lint    check style, format and types'
	@echo 'make bench   measure the eager library'
	@echo 'make clean   remove the environment, caches and built files'

demo: $(VENV)/.installed-examples
	$(BIN)/python examples/digits.py

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-examples
	$(BIN)/python benchmarks/eager.py

# The stem is the extra to install: dev or examples. The package is linked, not
# copied, so only a change of the settings file asks for a new installation.
$(VENV)/.installed-%: pyproject.toml $(VENV)/.created
	@echo 'Installing gtape[$*] into $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

# --clear: a creation that was interrupted starts anew.
$(VENV)/.created:
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
