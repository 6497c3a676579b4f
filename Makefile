# `make` alone lists the targets. Every target sets up what it needs and is quick when that is done already.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := .venv/bin

.PHONY: help setup system-packages demo test test-fast test-long test-plateau check format bench docs wheel lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: ## install Lakebed and its locked dependencies into .venv
	@bash scripts/setup.sh

system-packages: ## install what tests need from the system (PostgreSQL, PgBouncer, Node.js)
	@bash scripts/system-packages.sh tests

demo: setup ## see what Lakebed can do
	@$(BIN)/lakebed demo

test: setup system-packages ## run all tests
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-fast: setup ## run the pure tests: no Spark, no server; seconds
	@$(BIN)/python -m pytest -m "not spark and not s3 and not postgres and not browser"

test-long: setup system-packages ## run all tests with ten times the rounds
	@LAKEBED_TEST_SCALE=10 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -o timeout=6000

test-plateau: setup ## run plateau's own suites of datasets with Lakebed's functions
	@bash scripts/setup.sh plateau
	@cd tests/kartothek/plateau && ../../../.setup/plateau/bin/python -m pytest -q -c pytest.ini --rootdir . --confcutdir .

check: setup ## lint, formatting, types, import order
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: setup ## run every benchmark, shortened
	@for benchmark in $(wildcard benchmarks/[a-z]*.py); do echo "== $$benchmark"; $(BIN)/python "$$benchmark" --quick; done

docs: setup ## write docs/reference.md and docs/python.md from the code
	@$(BIN)/python -m scripts.reference
	@$(BIN)/python -m scripts.python_page

wheel: setup ## build the wheel into dist/
	@$(BIN)/hatchling build --target wheel --directory dist

lock: ## choose the dependencies anew and write requirements.lock
	@bash scripts/setup.sh lock

clean: ## remove everything that setup, tests and checks have made
	@rm -rf .venv .setup .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
