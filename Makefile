PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export STREAMLIT_BROWSER_GATHER_USAGE_STATS := false

.PHONY: demo test check test-slow test-gpu format clean

# Re-made when the pinned versions or the package's requirements change; otherwise a second run starts in seconds.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'EliCal needs Python 3.11 or newer; set PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed
	$(BIN)/elical demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

test-gpu: $(VENV)/.installed
	$(BIN)/python -m pytest -m gpu

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_arrows.py
	$(BIN)/python -m db.migrate check

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV)
