# make demo : set up, run the demo study, print the path of the page
# make test : set up, then run all tests but the long ones      make test-long : the long ones
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KUBERNETES := $(VENV)/kubernetes
CORES ?= all
# Tests at the same time, twice: of studies, and in parallel of single functions. A study waits for Snakemake more than for
# a core.
WORKERS ?= 2

# A study runs in many processes; they share compiled Python.
unexport PYTHONDONTWRITEBYTECODE

PAGE ?=

DEMO ?= prasanga-demo

.PHONY: demo pictures screenshots test test-long system check suite studies units site benchmarks simulations gpu docs lock clean

demo: $(VENV)/.installed
	$(BIN)/prasanga demo --cores $(CORES)

# The browser is installed while the environment is made; style and types are checked while plugins are installed.
test:
	$(MAKE) --jobs=3 --output-sync=line check studies units

# Tests that take too long to run after every change: whole studies, killed runs, simulated queues, a real one-node Slurm (as
# root), simulations, benchmarks. About an hour.
test-long: $(KUBERNETES)/.installed system
	$(BIN)/pytest --numprocesses $$((2 * $(WORKERS))) --dist worksteal -m long --ignore=tests/slurm
	$(BIN)/pytest tests/slurm
	$(MAKE) benchmarks

# A browser for tests/browser, a Slurm for tests/slurm and LaTeX for the tables of papers, where they may be installed;
# elsewhere those tests are skipped with a reason.
system:
	@browser=; \
	for name in "$$PRASANGA_CHROMIUM" chromium chromium-browser google-chrome; do \
	  if [ -n "$$name" ] && command -v "$$name" >/dev/null; then browser=$$name; fi; \
	done; \
	missing=; \
	for name in slurmctld slurmd sbatch munged pdflatex; do command -v $$name >/dev/null || missing=$$name; done; \
	if [ -n "$$browser" ] && [ -z "$$missing" ]; then exit 0; fi; \
	packages=$$(grep -v '^#' tests/apt.txt | tr '\n' ' '); \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $$packages >/dev/null; \
	else \
	  echo "Some tests need a browser, a Slurm, or LaTeX. Install them as root: apt-get install $$packages"; \
	fi

# Every view of the page at three widths, light and dark, in tests/screenshots; PAGE is another page than the tests' own.
screenshots: $(VENV)/.developed system
	PRASANGA_PAGE=$(PAGE) $(BIN)/pytest -m long -k pictured tests/browser

# Style, formatting and types.
check: $(VENV)/.developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules construction calibration
	$(BIN)/snakemake --lint
	$(BIN)/snakemake build_pairs --lint --configfile tests/golden/demo/study.yaml  # rules of one language, with construction

# Each process reads all tests of its part and makes models and pages of its own, so the two parts have their own processes.
suite:
	$(MAKE) --jobs=2 --output-sync=line studies units

studies: $(KUBERNETES)/.installed system
	$(call pytest,tests/workflow tests/slurm tests/docs tests/browser)

units: $(KUBERNETES)/.installed system
	$(call pytest,tests/hostile tests/unit)

# Tests write many thousand small files, which is quicker in memory: where 8 GB of it are free, and programs may run there.
IN_MEMORY = $(shell test "$$(df --output=avail --block-size=G /dev/shm 2>/dev/null | tr -dc 0-9)" -ge 8 2>/dev/null \
  && ! grep -q ' /dev/shm .*noexec' /proc/mounts && echo /dev/shm/prasanga-XXXXXX)
pytest = folder=$$(mktemp -d $(IN_MEMORY)) && trap 'rm -rf "$$folder"' EXIT INT TERM && \
	  $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal -m "not long" --basetemp="$$folder/tests" $(1)

# The environment, from the pinned versions; made again when they change. pip would compile it on one core. What is compiled
# later, if it is imported at all, is two fifths of it: tests of libraries, and architectures of models.
LATER := '/tests?/|/_internal/|/_inductor/|/transformers/models/(?!auto/)'
$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; say which with: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --requirement requirements.lock
	$(BIN)/python -m compileall -q -j 0 -x $(LATER) $(VENV)/lib >/dev/null || true  # files for newer Pythons do not compile
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@

# What tests, checks and the site of the docs need on top.
$(VENV)/.developed: requirements-dev.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --requirement requirements-dev.lock
	$(BIN)/python -m compileall -q -j 0 -x $(LATER) $(VENV)/lib >/dev/null || true  # files for newer Pythons do not compile
	touch $@

# Plugins for Kubernetes, apart from the rest; the tests of that profile look there.
$(KUBERNETES)/.installed: requirements-kubernetes.lock $(VENV)/.developed
	$(BIN)/python -m pip install --quiet --upgrade --no-deps --target $(KUBERNETES) --requirement requirements-kubernetes.lock
	touch $@

# Ratios to the simple way, CEAT of the paper's grid, the report.
benchmarks: $(VENV)/.developed
	$(BIN)/python tests/benchmarks/ratios.py
	$(BIN)/python tests/benchmarks/grid.py
	$(BIN)/python tests/benchmarks/report.py

# Error rates, coverage and power of all tests and intervals: docs/measured/simulations.md. Two hours.
simulations: $(VENV)/.developed
	$(BIN)/python tests/benchmarks/calibration.py
	$(BIN)/python tests/benchmarks/primary_tests.py
	$(BIN)/python tests/benchmarks/interval_coverage.py
	$(BIN)/python tests/benchmarks/slopes.py
	$(BIN)/python tests/benchmarks/strength.py
	$(BIN)/python tests/benchmarks/twins.py
	$(BIN)/python tests/benchmarks/log_probability_tests.py
	$(BIN)/python tests/benchmarks/seat_units.py
	$(BIN)/python tests/benchmarks/bias_intervals.py

# Speed and correctness on a GPU, in ten minutes: writes docs/measured/gpu.json and lists failures.
gpu: $(VENV)/.developed
	$(BIN)/python tests/benchmarks/gpu.py

# The schema that editors check a config with. The site gets its pages from the code when it is built.
docs: $(VENV)/.developed
	$(BIN)/python docs/generated_pages.py

# The pictures of the docs, drawn from a finished demo: make pictures DEMO=prasanga-demo.
pictures: $(VENV)/.developed system
	$(BIN)/python docs/pictures.py $(DEMO)

# All pages as a site that opens from disk: site/index.html.
site: $(VENV)/.developed
	$(BIN)/mkdocs build --strict

# Resolve all versions again, after a change of pyproject.toml. pip adds what torch needs on a machine with a GPU, so one lock
# file serves every machine.
freeze = .venv-lock/bin/python -m pip freeze --all --exclude prasanga --exclude pip \
	  | sed -E 's/^(torch==[0-9.]+)\+.*/\1/' | grep -viE '^(nvidia|cuda|triton)'
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet setuptools '.[cluster,sentencepiece]'
	{ head -1 requirements.lock; $(freeze); } > requirements.new && mv requirements.new requirements.lock
	.venv-lock/bin/python -m pip install --quiet '.[dev,docs]'
	{ head -1 requirements-dev.lock; $(freeze) | grep -vxFf requirements.lock; } > requirements.new \
	  && mv requirements.new requirements-dev.lock
	.venv-lock/bin/python -m pip install --quiet '.[kubernetes]'
	{ grep '^#' requirements-kubernetes.lock; $(freeze) | grep -v '^torch' | grep -vxFf requirements.lock \
	  | grep -vxFf requirements-dev.lock; } > requirements.new && mv requirements.new requirements-kubernetes.lock
	rm -r .venv-lock

clean:
	rm -rf results logs benchmarks
