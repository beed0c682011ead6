# Everything a person or CI runs. Only python3 and make are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WARM := $(VENV)/.warmed
DOCS := $(VENV)/.docs
# More for pytest: `make test PYTEST_ARGS=tests/events`.
PYTEST_ARGS :=

.PHONY: help setup demo tour test check docs wheel format soak bench clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMP)  ## Make .venv with everything that demo and test need

# --use-pep517: some packages have no wheel, and older versions of pip warn about their legacy install.
$(STAMP): pyproject.toml lab/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tamis needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	@$(PYTHON) -c 'import sys; sys.version_info < (3, 15) or print("Not all that Tamis needs has wheels for Python 3.15 and newer. If this fails: make PYTHON=python3.14 …")'
	@echo '1 of 3: creating $(VENV), a Python environment for Tamis …'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo '2 of 3: installing the dependencies, with Spark and Java (1.7 GB on disk): 2 to 10 minutes …'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 -c constraints.txt -e '.[dev,spark]' -e ./lab
	@echo '3 of 3: compiling the kernels, once: 1 to 2 minutes …'
	@$(BIN)/python -m tamis.warm
	@touch $@
	@echo 'Done. $(BIN)/tamis --help shows the commands.'

# Compile before tests run: else every test process compiles the same kernels.
$(WARM): $(STAMP) $(shell find tamis/kernels lab/tamis_lab/kernels -name "*.py")
	@echo 'Compiling the kernels of all engines, once: 2 to 4 minutes …'
	@$(BIN)/python -m tamis.warm --all
	@touch $@

demo: $(STAMP)  ## A year of departures against 100,000 alerts, as a stream on Spark; report in demo-report/
	$(BIN)/python -m tamis_lab.demo

tour: $(STAMP)  ## Match the example events against the example subscriptions
	$(BIN)/tamis match --subscriptions examples/subscriptions.jsonl --events examples/events.jsonl --schema examples/schema.json --format table
	@echo; echo 'Why does this one not match?'
	$(BIN)/tamis explain --subscriptions examples/subscriptions.jsonl --schema examples/schema.json --id good-deal --event '{"price": 700, "seller": {"rating": 4.9}}' || test $$? -eq 1  # 1 is "no"

test: $(WARM)  ## Run all tests
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -q $(PYTEST_ARGS)

check: $(WARM)  ## Lint, format, types, layers, examples in the docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_names.py
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob='*.md' --ignore=docs/guides/spark.md --ignore=docs/conf.py --ignore=docs/_ext tamis lab/tamis_lab docs README.md  # tests/spark runs docs/guides/spark.md

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

docs: $(DOCS)  ## Build the documentation site into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -b html -E -n -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html
	@echo 'Open docs/_build/html/index.html'

wheel: $(STAMP)  ## Build the wheel and use it alone, in an empty environment
	$(BIN)/python tools/check_wheel.py

format: $(STAMP)  ## Lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: $(WARM)  ## All tests with their long counts: kills, fuzz, oracles; figures go to results/soak.jsonl
	rm -f results/soak.jsonl
	TAMIS_SOAK=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

bench: $(STAMP)  ## Measure
	$(BIN)/tamis bench parse --out results/parse.json
	$(BIN)/tamis bench atree --full --out results/atree.json
	$(BIN)/tamis bench block --full --out results/block.json
	$(BIN)/tamis bench bloom --full --out results/bloom.json --plots results/bloom
	$(BIN)/tamis bench bdd --full --out results/bdd.json
	$(BIN)/tamis bench lint --full --out results/lint.json
	$(BIN)/tamis bench peers --full --out results/peers.json
	$(BIN)/python -m tamis_lab.peers.peer_tables results/peers.json docs/evaluation/peers.md
	$(BIN)/python -m tamis_lab.peers.speed_chart results/peers.json results/block.json docs/images/speed.svg
	$(BIN)/tamis bench broker --out results/broker.json
	$(BIN)/tamis bench overlay --full --out results/overlay.json
	$(BIN)/tamis simulate --out results/simulate.jsonl
	$(BIN)/tamis simulate --scale large --out results/simulate.jsonl --report docs/simulation

clean:  ## Remove what the other targets made
	rm -rf $(VENV) .venv-newest demo-report docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
