# Every target sets up .venv, and repeats that only if pyproject.toml or constraints.txt changed.

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet --constraint constraints.txt
PYTEST_ARGS ?= -n 3 --dist worksteal -q --durations=10

# The tests start hundreds of processes; with this variable each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# The type checker keeps one processor busy for most of a minute; the other one starts the next step.
ifneq ($(filter check,$(MAKECMDGOALS)),)
MAKEFLAGS += --jobs=2
endif

.PHONY: help demo test nightly check lint types walls docs dist bench readme screenshots format clean

help:
	@echo "make demo    simulate calls, ingest them and open the explorer; without a terminal, print tables"
	@echo "make test    run the tests"
	@echo "make nightly run the long tests"
	@echo "make check   run linters, type checker, import walls and tests"
	@echo "make docs    build docs/ as a searchable site, in site/"
	@echo "make dist    build the wheel, install it with pip, pipx and uv, and use it"
	@echo "make bench   measure, and write benchmarks/RESULTS.md"
	@echo "make readme  update the outputs and tables in README.md and docs/"
	@echo "make screenshots  redraw the pictures in screenshots/"
	@echo "make format  format the code"
	@echo "make clean   remove everything that make made"

demo: $(VENV)/.ready
	@$(BIN)/riff-tui demo

test: $(VENV)/.ready
	$(BIN)/python -m pytest $(PYTEST_ARGS)

nightly: $(VENV)/.ready
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m nightly

check: lint types walls test

lint: $(VENV)/.ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.ready
	$(BIN)/mypy

walls: $(VENV)/.ready
	$(BIN)/lint-imports

docs: $(VENV)/.ready-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist: $(VENV)/.ready
	rm -rf dist
	$(BIN)/python -m hatchling build --directory dist
	$(BIN)/python -m tests.wheel dist/*.whl

bench: $(VENV)/.ready-bench
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

readme: $(VENV)/.ready
	$(BIN)/python -m tests.readme

screenshots: $(VENV)/.ready
	$(BIN)/python -m tests.screenshots

format: $(VENV)/.ready
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) .bench demo dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache site

$(VENV)/.ready: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing riff-tui and its tools into $(VENV) ..." >&2
	@$(PIP_INSTALL) hatchling editables
	@$(PIP_INSTALL) --no-build-isolation --editable '.[dev]'
	@touch $@

$(VENV)/.ready-docs: $(VENV)/.ready
	@echo "Installing what builds the site ..." >&2
	@$(PIP_INSTALL) --no-build-isolation --editable '.[dev,docs]'
	@touch $@

$(VENV)/.ready-bench: $(VENV)/.ready
	@echo "Installing what the benchmarks compare with ..." >&2
	@$(PIP_INSTALL) --no-build-isolation --editable '.[dev,bench]'
	@test -x .bench/peers/bin/python || $(BIN)/python -m venv .bench/peers
	@.bench/peers/bin/python -m pip --disable-pip-version-check --no-input install --quiet --constraint constraints.txt sqlite-utils
	@touch $@

# Take the first of these Pythons that is new enough and has venv; PYTHON=... names another.
PYTHONS := $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python)

$(BIN)/python:
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec $$python -m venv --clear $(VENV); \
	  fi; \
	done; \
	echo "riff-tui needs Python 3.11 or newer with its venv module; none of these fits: $(PYTHONS)" >&2; \
	echo "Install it (on Debian and Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1
