# From a bare checkout: `make train` trains and evaluates a policy, `make test` runs the tests. Both set up .venv first.
PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.set-up

.PHONY: help setup test train lint types bench clean
.DEFAULT_GOAL := help

help:
	@echo "make train | test | lint | types | bench | setup | clean    (PYTHON=python3.12 for another interpreter)"

setup: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: Python 3.11 or newer is needed as '$(PYTHON)'; name another: make $(or $(MAKECMDGOALS),setup) PYTHON=/path/to/python3"; exit 1; } >&2
	@test -x $(VENV)/bin/pip || $(PYTHON) -m venv --clear $(VENV) || \
	  { echo "make: $(PYTHON) cannot create $(VENV): its venv module is missing. On Debian and Ubuntu install 'python3-venv' (e.g. apt install python3-venv), then run make again."; exit 1; } >&2
	@echo "Installing the pinned packages into $(VENV) (once; takes a minute or more) ..."
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.lock -e '.[dev]'
	@touch $@

# One thread for each numerical library: pytest already runs as many processes as there are cores.
test: export OMP_NUM_THREADS := 1
test: export OPENBLAS_NUM_THREADS := 1
test: export MKL_NUM_THREADS := 1
test: setup
	$(PY) -m pytest $(ARGS)

train: setup
	$(PY) -m agents.train configs/train/quick.yaml --folder runs --overwrite
	$(PY) -m agents.evaluate --player ppo:runs/quick/best_model.zip --player greedy --player random --suite draw3-dev --deals 200

lint: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: setup
	$(PY) -m mypy canfield_env agents examples

bench: setup
	$(VENV)/bin/canfield bench --full

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
