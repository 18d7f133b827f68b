PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help

help: ## show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Fencepost needs Python 3.11 or newer; this is %s. Say make PYTHON=python3.12, for example." % sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

install: $(STAMP) ## create .venv with the exact versions of requirements.lock

demo: $(STAMP) ## start everything, index the sample documents, search (ARGS=--exit ends by itself)
	$(BIN)/fencepost demo $(ARGS)

test: $(STAMP) ## run the whole test suite (ARGS=... goes to pytest)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(ARGS)

lint: $(STAMP) ## ruff, mypy, the import contracts, and linters of what is in deploy/
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint deploy/Dockerfile
	$(BIN)/check-jsonschema --schemafile tests/guards/compose-spec/compose-spec.json docker-compose.yml

format: $(STAMP) ## format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

lock: $(STAMP) ## renew requirements.lock from pyproject.toml, and with the same versions the two locks of the image
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --upgrade --extra opensearch-local --group dev pyproject.toml --output-file requirements.lock
	$(COMPILE) --constraint requirements.lock --extra opensearch pyproject.toml --output-file deploy/runtime.lock
	$(COMPILE) --constraint requirements.lock --group build --output-file deploy/build.lock

bench: $(STAMP) ## measure speed as ratios against raw limits (ARGS=... goes to benchmarks.pipeline)
	$(BIN)/python -m benchmarks.pipeline $(ARGS)

bench-opensearch: $(STAMP) ## the same for publishing to OpenSearch (ARGS=... goes to benchmarks.opensearch)
	$(BIN)/python -m benchmarks.opensearch $(ARGS)

compare: $(STAMP) ## read our samples with other extractors (ARGS="--venv DIR --tika JAR"), in environments of their own
	$(BIN)/python -m benchmarks.compare_extractors $(ARGS)

soak: $(STAMP) ## check the statements against the model for a long time, and an index that is away for a minute
	$(BIN)/python -m pytest --hypothesis-profile=soak tests/model tests/faults/test_index_faults.py

bench-extraction: $(STAMP) ## measure reading documents, and a hostile one among good ones (ARGS=... goes to benchmarks.extraction)
	$(BIN)/python -m benchmarks.extraction $(ARGS)

bench-large: $(STAMP) ## measure reading large documents (ARGS=... goes to benchmarks.large)
	$(BIN)/python -m benchmarks.large $(ARGS)

fuzz: $(STAMP) ## read broken copies of all samples (ARGS="--seconds 300 --seed 7 --keep DIR")
	$(BIN)/python -m tests.fuzz $(ARGS)

prove: $(STAMP) ## remove each guard in turn and see its test go red (ARGS="--only tombstone Landlock")
	$(BIN)/python -m tests.prove $(ARGS)

clean: ## remove .venv and the caches of the tools
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help install demo test lint format lock bench bench-opensearch bench-extraction bench-large compare soak fuzz prove clean
