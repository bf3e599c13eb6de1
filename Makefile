# Needs python3 (3.11 or newer), pip and make. `make demo` and `make test` set up .venv by themselves.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-slow bench reproduction picture clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hyperclus needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[test]' --constraint constraints.txt
	touch $@

demo: setup
	@$(BIN)/python examples/digits.py

test: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 -q

test-slow: setup
	$(BIN)/pytest -q -m slow

bench: setup
	$(BIN)/python benchmarks/run.py

reproduction: setup
	$(BIN)/hyperclus reproduce --slow --fresh --markdown > docs/reproduction.new
	mv docs/reproduction.new docs/reproduction.md

picture: setup
	$(BIN)/python examples/picture.py docs/images/digits.png

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist
