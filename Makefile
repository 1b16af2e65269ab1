# `make help` lists what there is.
PYTHON ?= python3
PORT ?= 8000
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Some tests wait for a process or a clock: one more than there are cores keeps these busy.
MORE_JOBS = $(shell expr $(JOBS) + 1)
export PORT PYTHON

BIN := .venv/bin
PYTEST := $(BIN)/pytest --dist worksteal
# A real browser does as it likes now and then: what fails there once is tried again, and shown.
IN_BROWSER := $(PYTEST) --reruns 2 --reruns-delay 1
CORE := chat/protocol/*,chat/engine/*,chat/providers/*,chat/tools/*,chat/formats/*
SAMPLE := env $$(grep -v '^\#' scripts/sample-production.env)

.DEFAULT_GOAL := help
.PHONY: help run local-model link setup test test-full coverage lint deploy-check messages bench shots clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

run: ## Start Parley on http://127.0.0.1:8000 (PORT=… changes it) and print a log-in link
	@scripts/setup runtime
	@exec $(BIN)/python manage.py serve

local-model: ## The same with a small real model on this machine (downloads 130 MB, once)
	@scripts/setup runtime
	@exec $(BIN)/python manage.py local_model

link: ## Print a new log-in link for the running Parley
	@$(BIN)/python manage.py login_link

setup: ## Make the virtualenv with everything for development
	@scripts/setup dev

test: setup ## Run the tests: on SQLite, in a browser, on PostgreSQL
	@scripts/test-needs
	@echo "Tests on SQLite …"
	@$(PYTEST) -n $(MORE_JOBS) -m "not full and not browser"
	@echo "Tests in a browser …"
	@$(IN_BROWSER) -n $(JOBS) -m "browser and not full"
	@echo "Tests on PostgreSQL …"
	@$(BIN)/python scripts/with_postgres $(PYTEST) -n $(JOBS) -m "both_databases and not full"

coverage: setup ## Run the tests on SQLite, traced (twice as slow), and hold them to the thresholds
	@scripts/test-needs
	@$(PYTEST) -n $(JOBS) -m "not full and not browser" --cov --cov-report= \
	  || echo "Traced at half their speed, some failed: make test judges them, here the figures count."
	@echo "Coverage of the core (at least 95 %) and of everything (at least 85 %) …"
	@$(BIN)/coverage report --include='$(CORE)' --fail-under=95
	@$(BIN)/coverage report --fail-under=85

test-full: export PARLEY_FULL = 1
test-full: setup ## Run the slow tests as well, and with other examples each time
	@scripts/test-needs
	@$(PYTEST) -n $(JOBS) -m "not browser"
	@$(IN_BROWSER) -n $(JOBS) -m "browser and not alone"
	@$(IN_BROWSER) -m alone
	@$(BIN)/python scripts/with_postgres $(PYTEST) -n $(JOBS) -m both_databases

lint: setup ## Check style, types, migrations and settings
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy chat chatsite
	@$(BIN)/python manage.py check --fail-level WARNING
	@PARLEY_DATA=.venv/lint $(BIN)/python manage.py makemigrations --check --dry-run
	@$(MAKE) --no-print-directory deploy-check

deploy-check: setup
	@PARLEY_DATA=.venv/lint $(SAMPLE) $(BIN)/python manage.py check --deploy --fail-level WARNING

messages: setup ## Gather the translatable texts and compile the translations
	@scripts/test-needs
	@mkdir -p locale
	@$(BIN)/python manage.py makemessages --locale zh_Hans --no-location --no-obsolete \
	  --ignore .venv --ignore var --ignore tests
	@$(BIN)/python manage.py compilemessages --ignore .venv --ignore var

bench: setup ## Measure latency, throughput and memory
	@$(BIN)/python -m tests.benchmark $(BENCH)

shots: setup ## Take the screenshots of the README
	@scripts/test-needs
	@$(BIN)/python -m tests.shots

clean: ## Remove what was made, except your data in var/
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* htmlcov var/static
