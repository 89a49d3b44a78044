# Everything a newcomer needs is one `make` away: each target sets up .venv itself.
#   make verify   the main job: oracle against fast on every stem, then training on real data;
#                 ARGS=--thorough for all instances and rows
#   make test     the test suite
#   make gates    what a change of structure must not change: bytes of certified fits, killing cells of the
#                 detection matrix, wrong certificates, statuses of statements, soak; minutes
#   make lowest   some of the tests on the lowest versions that pyproject.toml allows
#   make newer    the same tests on Python 3.13 and 3.14, as far as they are here
#   make coverage lines and branches that tests reach, by room, in a minute or two
#   make machines some of the tests as on older and newer processors
#   make page     one page of the documentation, run: PAGE=losses/topk_hinge_alpha
#   make course   the twelve lectures with slides, notebooks and sheets: docs/_build/course.zip
#   make lint | docs | bench | clean
VENV   ?= .venv
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
REPORT ?= report
PAGE ?= losses/topk_hinge_alpha
ARGS   ?=
# Two workers: numba compiles and cvxpy canonicalises on one core each.
PYTEST_ARGS ?= -n 2 --dist loadfile
KERNELS ?=
# What .ci/run adds to what `make test` installs, for the losses on tensors: without it their tests are skipped.
# Where that version is no build for CPUs of some 200 MB: TORCH=, or another requirement.
TORCH ?= torch==2.13.0

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Workers and children import the same modules: without their bytecode each would compile them anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: verify test gates coverage lowest newer machines lint docs page course bench torch clean
.DEFAULT_GOAL := verify

verify: $(VENV)/.core
	$(BIN)/refsolve verify --all --output $(REPORT) $(ARGS)

# numba's cache does not notice an edited callee in another file: tests start from an empty one, or
# from KERNELS, a folder that holds what has been compiled from these very sources and nothing else.
test: $(VENV)/.test
	@cache="$(KERNELS)"; test -n "$$cache" || { cache=$$(mktemp -d); trap 'rm -rf "$$cache"' EXIT; }; \
	NUMBA_CACHE_DIR="$$cache" OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PYTEST_ARGS)

gates: $(VENV)/.test
	@$(BIN)/python -m tests.gates $(ARGS)

# Later Pythons than the first have no wheels of the lowest versions.
LOWEST := $(addprefix tests/,test_import_rules.py cli/test_commands.py cli/test_examples.py cli/test_model_file.py \
	cli/test_replay_commands.py fast/test_metrics.py fast/test_losses.py)

lowest: $(BIN)/python
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "not run: needs Python 3.11"; exit 0; }; \
	place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; \
	$(BIN)/python .ci/lowest test:hypothesis lint:pytest plot:matplotlib > "$$place/lowest.txt" && \
	$(BIN)/python -m venv "$$place/venv" && \
	"$$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$$place/lowest.txt" && \
	NUMBA_CACHE_DIR="$$place" OMP_NUM_THREADS=1 "$$place/venv/bin/python" -m pytest -q -p no:cacheprovider $(LOWEST)

newer:
	@place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; for version in 3.13 3.14; do \
		python=$$(for p in python$$version "$$HOME"/.pyenv/versions/$$version.*/bin/python; do \
			"$$p" -c '' 2>/dev/null && echo "$$p" && break; done); \
		test -n "$$python" || { echo "not run: no Python $$version"; continue; }; \
		"$$python" -m venv "$$place/$$version" && \
		"$$place/$$version/bin/python" -m pip install --quiet --disable-pip-version-check . pytest hypothesis matplotlib && \
		NUMBA_CACHE_DIR="$$place" OMP_NUM_THREADS=1 "$$place/$$version/bin/python" -m pytest -q -p no:cacheprovider $(LOWEST) || exit 1; \
	done

coverage: $(VENV)/.test
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.covered $(ARGS)

machines: $(VENV)/.test
	@.ci/machines $(BIN)/python

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m refsolve.declared > .mypy_cache/declared.py
	$(BIN)/mypy .mypy_cache/declared.py

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -j 2 -b html docs docs/_build/html

page: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -b html -D root_doc=$(PAGE) -D include_patterns=$(PAGE).md \
		-D suppress_warnings=myst.xref_missing,ref.doc docs docs/_build/page
	@echo docs/_build/page/$(PAGE).html

course: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -j 2 -b html -D root_doc=course/index -D include_patterns='course/**' \
		-D suppress_warnings=myst.xref_missing,ref.doc -d docs/_build/course.doctrees docs docs/_build/course
	@echo '<meta http-equiv="refresh" content="0; url=course/index.html">' > docs/_build/course/index.html
	@cd docs/_build && rm -f course.zip && $(abspath $(BIN))/python -m zipfile -c course.zip course
	@echo "docs/_build/course.zip; the first page is docs/_build/course/index.html"

bench: $(VENV)/.core
	$(BIN)/refsolve bench topk
	$(BIN)/refsolve bench entropy
	$(BIN)/refsolve bench ap
	$(BIN)/refsolve bench svmplus

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "refsolve needs Python 3.11 or newer on the PATH, or: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A stamp per set of extras: a second run installs nothing unless pyproject.toml changed.
$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.test $(VENV)/.docs $(VENV)/.lint $(VENV)/.dev: $(VENV)/.%: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[$*]'
	@touch $@ $(if $(filter dev,$*),$(addprefix $(VENV)/.,core test docs lint))

torch: | $(BIN)/python
	$(if $(TORCH),$(PIP) $(TORCH),@echo "not installed: torch")

clean:
	rm -rf $(VENV) $(REPORT) build dist docs/_build docs/jupyter_execute .pytest_cache .mypy_cache .ruff_cache .hypothesis
