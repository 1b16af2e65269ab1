# `make help` lists what there is.
PYTHON ?= python3
PORT ?= 8000
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Many tests wait for a process or a clock: more than there are cores keep these busy.
MORE_JOBS = $(shell expr $(JOBS) + 1)
MOST_JOBS = $(shell expr $(JOBS) + $(JOBS))
export PORT PYTHON

BIN := .venv/bin
PYTEST := $(BIN)/pytest --dist worksteal
# Thousands of tests with real processes and clocks share a machine with who knows what: one that
# fails is tried once more, in a real browser twice, and listed at the end.
PATIENTLY := $(PYTEST) --reruns 1 -r R
IN_BROWSER := $(PYTEST) --reruns 2 --reruns-delay 1 -r R
# To read all the other tests as well would take longer than many of these.
ON_POSTGRES = $$(grep -rl --include='test_*.py' both_databases tests)
CORE := chat/protocol/*,chat/engine/*,chat/providers/*,chat/tools/*,chat/formats/*
SAMPLE := env SECRET_KEY="$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))')" $$(grep -v '^\#' scripts/sample-production.env)

.DEFAULT_GOAL := help
.PHONY: help run local-model link setup test test-full coverage mutants lint audit deploy-check messages bench shots clean

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

# Tests start the program a hundred times: without this each would compile all of it.
test test-full coverage: export PYTHONDONTWRITEBYTECODE =

# No test takes a minute by itself: one that hangs would hang for ever.
test coverage: export PYTEST_TIMEOUT = 600

# What all three begin with is made once (`tests/support/tables.py`), and removed in the end.
test: export PARLEY_TEST_RUN := $(shell echo $$$$)
test: setup ## Run the tests: on SQLite, in a browser, on PostgreSQL
	@scripts/test-needs
	@set -e; trap 'rm -rf "$${TMPDIR:-/tmp}/parley-tables-$$PARLEY_TEST_RUN"' EXIT; \
	$(BIN)/python -m tests.browser & \
	echo "Tests on SQLite …"; \
	$(PATIENTLY) -n $(MOST_JOBS) -m "not full and not browser"; \
	echo "Tests in a browser …"; \
	$(IN_BROWSER) -n $(MORE_JOBS) -m "not full" tests/browser; \
	echo "Tests on PostgreSQL …"; \
	$(BIN)/python scripts/with_postgres $(PATIENTLY) -n $(MORE_JOBS) -m "both_databases and not full" $(ON_POSTGRES)

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
	@$(PATIENTLY) -n $(JOBS) -m "not browser"
	@$(IN_BROWSER) -n $(JOBS) -m "not alone" tests/browser
	@$(IN_BROWSER) -m alone tests/browser
	@$(BIN)/python scripts/with_postgres $(PATIENTLY) -n $(JOBS) -m both_databases $(ON_POSTGRES)

lint: setup ## Check style, types, migrations and settings
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy chat chatsite
	@$(BIN)/python manage.py check --fail-level WARNING
	@PARLEY_DATA=.venv/lint $(BIN)/python manage.py makemigrations --check --dry-run
	@$(MAKE) --no-print-directory deploy-check

audit: ## Look up known vulnerabilities of the pinned packages (needs the internet)
	@$(PYTHON) scripts/audit

deploy-check: setup
	@PARLEY_DATA=.venv/lint $(SAMPLE) $(BIN)/python manage.py check --deploy --fail-level WARNING

messages: setup ## Gather the translatable texts and compile the translations
	@scripts/test-needs
	@mkdir -p locale
	@$(BIN)/python manage.py makemessages --locale zh_Hans --no-location --no-obsolete \
	  --ignore .venv --ignore var --ignore tests
	@$(BIN)/python manage.py compilemessages --ignore .venv --ignore var

mutants: setup ## Plant known faults one at a time and see that the tests find each (an hour)
	@scripts/test-needs
	@$(BIN)/python -m tests.mutants --jobs $(JOBS)

bench: setup ## Measure latency, throughput and memory
	@$(BIN)/python -m tests.benchmark $(BENCH)

shots: setup ## Take the screenshots of the README
	@scripts/test-needs
	@$(BIN)/python -m tests.shots

clean: ## Remove what was made, except your data in var/
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* htmlcov var/static
