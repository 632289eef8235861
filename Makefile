# make demo : set up, run the demo study, say where the page lies      make test : set up, then all that CI checks
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORES ?= all
# Tests that run at the same time; each of the workflow tests' studies uses two cores where it can.
WORKERS ?= 2

.PHONY: demo test system check unit browser workflow benchmarks docs lock clean

demo: $(VENV)/.installed
	$(BIN)/snakemake --cores $(CORES) --resources gpu=1
	@echo "The page lies in results/report/index.html"

# The browser comes while the environment is made.
test:
	$(MAKE) --jobs=2 --output-sync=target $(VENV)/.installed system
	$(MAKE) --jobs=2 --output-sync=target check unit
	$(MAKE) browser
	$(MAKE) workflow

# A browser for tests/browser, where one may be installed; elsewhere those tests are skipped with a reason.
system:
	@for name in "$$PRASANGA_CHROMIUM" chromium chromium-browser google-chrome; do \
	  if [ -n "$$name" ] && command -v "$$name" >/dev/null; then exit 0; fi; \
	done; \
	packages=$$(grep -v '^#' tests/apt.txt | tr '\n' ' '); \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $$packages >/dev/null; \
	else \
	  echo "The tests of the page need a browser. Install it as root: apt-get install $$packages"; \
	fi

# What stands in the code, without running it.
check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

unit: $(VENV)/.installed
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal tests/unit

# The page in a browser.
browser: $(VENV)/.installed
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal tests/browser

# The real Snakefile on small input, and what makes it run again.
workflow: $(VENV)/.installed
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal tests/workflow

# The environment, from the pinned versions; made again when they change. pip would compile it on one core.
$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; say which with: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --requirement requirements.lock
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null || true  # files for newer Pythons do not compile
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@

# Speed and memory of the sentences and embeddings stages beside what was asked (some minutes; docs/performance.md).
benchmarks: $(VENV)/.installed
	$(BIN)/python tests/benchmarks/sentences.py
	$(BIN)/python tests/benchmarks/embeddings.py
	$(BIN)/python tests/benchmarks/associations.py --grid
	$(BIN)/python tests/benchmarks/pairs.py
	$(BIN)/python tests/benchmarks/report.py
	$(BIN)/python tests/benchmarks/interval_coverage.py
	$(BIN)/python tests/benchmarks/calibration.py

# The page on the config, from its schema.
docs: $(VENV)/.installed
	$(BIN)/python docs/write_config_page.py

# Resolve the versions anew (after a change of pyproject.toml). What torch needs on a machine with a graphics card is left
# to pip there, so one file serves every machine.
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet setuptools '.[dev,cluster,sentencepiece]'
	{ echo '# Pinned versions of everything; made by `make lock`.'; \
	  .venv-lock/bin/python -m pip freeze --all --exclude prasanga --exclude pip \
	  | sed -E 's/^(torch==[0-9.]+)\+.*/\1/' | grep -viE '^(nvidia|cuda|triton)'; } > requirements.lock
	rm -r .venv-lock

clean:
	rm -rf results logs benchmarks
