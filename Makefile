# Each command does its own set-up: it makes .venv, installs what constraints.txt pins, and goes on.
PYTHON ?= python3
BIN := .venv/bin
SETUP := pyproject.toml setup.cfg constraints.txt rrgmetrics/version.py

.PHONY: demo test lint clean

demo: .venv/demo
	$(BIN)/rrgmetrics compare --references examples/references.csv --systems examples/system_a.csv examples/system_b.csv \
		--html out/report.html --force --no-progress

test: .venv/test
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow and not gpu and not network"

lint: .venv/test
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

.venv/bin/python:
	$(PYTHON) -m venv .venv

# torch first: on its own line pip takes the build that constraints.txt names before anything asks for a newer one.
.venv/demo: .venv/bin/python $(SETUP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/test: .venv/demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv out
