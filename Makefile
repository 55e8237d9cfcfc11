# Everything a developer or a user runs. Each target sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCES := pyproject.toml setup.py constraints.txt $(wildcard src/graphfill/*/csrc/*)
PYTEST := $(BIN)/python -m pytest -q -n 2

.PHONY: demo test test-compiled test-plain test-slow browser lint docs sanitize benchmark \
	peers mice paper files billion spark wheel clean

demo: $(VENV)/.graphfill
	$(BIN)/graphfill demo --folder demo-output

test: lint docs test-compiled test-plain

test-compiled: $(VENV)/.dev browser
	$(PYTEST) -m "not slow"

# What calls a kernel, on an install without the compiled extension; PLAIN= names other tests.
PLAIN := $(addprefix tests/,properties/test_closed_form.py imputers/test_propagation.py \
	imputers/test_baselines.py graph kernels/test_kernels.py \
	solve/test_memory.py solve/test_pcfi.py solve/test_peers.py solve/test_propagate.py)
test-plain: $(VENV)/.dev
	rm -rf build/installed-plain
	GRAPHFILL_NO_EXTENSION=1 $(PIP) --no-deps --target build/installed-plain .
	test -z "$$(find build/installed-plain/graphfill -name '*.so')"
	PYTHONPATH=build/installed-plain $(PYTEST) -m "not slow" $(PLAIN)

test-slow: $(VENV)/.dev
	$(PYTEST) -m slow

# The report's tests look at it in a real browser; without one they are skipped, and say so.
browser: $(VENV)/.browser

$(VENV)/.browser: | $(VENV)/.dev
	@as_root=; test "$$(id -u)" = 0 || as_root=$$(command -v sudo) || true; \
	found() { command -v chromium >/dev/null && command -v chromedriver >/dev/null; }; \
	if ! found && command -v apt-get >/dev/null; then \
		echo "Installing Debian's chromium, for the report's tests."; \
		$$as_root apt-get -qq update && $$as_root apt-get -qq install -y chromium chromium-driver \
			</dev/null >/dev/null || true; \
	fi; \
	if found; then touch $@; else \
		echo "No chromium and chromedriver here: install both to test the report in a browser."; \
	fi

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation as docs/_build/html/index.html; a reference that leads nowhere is an error.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -n -W --keep-going docs docs/_build/html

# The extension's tests with address and undefined-behaviour checks built in.
sanitize: $(VENV)/.dev
	rm -rf build/installed-sanitized
	GRAPHFILL_CFLAGS="-O1 -g -DGRAPHFILL_ONE_TARGET -fsanitize=address,undefined -fno-sanitize-recover" \
	GRAPHFILL_LDFLAGS="-fsanitize=address,undefined" \
		$(PIP) --no-deps --no-build-isolation --target build/installed-sanitized .
	PYTHONPATH=build/installed-sanitized ASAN_OPTIONS=detect_leaks=0 \
		LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
		$(BIN)/python -m pytest -q -p no:cacheprovider tests/kernels

benchmark: $(VENV)/.dev
	$(BIN)/python benchmarks/engine.py

# Imputers that benchmarks/defaults.py compares with and that need older packages than graphfill.
peers: .venv-peers/.installed

.venv-peers/.installed: benchmarks/requirements.txt
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	touch $@

# R's mice, for benchmarks/mice.R: Debian's package, where it is not installed yet.
mice:
	@as_root=; test "$$(id -u)" = 0 || as_root=$$(command -v sudo) || true; \
	Rscript -e 'library(mice)' >/dev/null 2>&1 || { $$as_root apt-get -qq update && \
		$$as_root apt-get -qq install -y r-cran-mice </dev/null >/dev/null; }

# The paper's tables and figures into docs/paper: many hours; started again, it goes on where it
# was stopped.
paper: $(VENV)/.bench
	mkdir -p docs/paper
	$(BIN)/graphfill bench paper --all

# From file to file under limits on memory, at the size of ogbn-products: about an hour, 10 GB.
files: $(VENV)/.dev
	$(BIN)/python benchmarks/files.py

# A graph of 10^9 directed edges, made and filled on disk: an hour or two, 40 GB.
billion: $(VENV)/.dev
	$(BIN)/python benchmarks/files.py --billion

# Shards on Spark, in local mode: installs pyspark, and Debian's Java where there is none.
spark: $(VENV)/.dev
	@as_root=; test "$$(id -u)" = 0 || as_root=$$(command -v sudo) || true; \
	command -v java >/dev/null || { $$as_root apt-get -qq update && \
		$$as_root apt-get -qq install -y default-jre-headless </dev/null >/dev/null; }
	$(PIP) --editable ".[dev,bench,spark]"
	$(BIN)/python -m pytest -q tests/large/shards/test_spark.py

wheel: $(VENV)/.dev
	$(BIN)/python -m build --wheel --outdir dist .

$(VENV)/.graphfill: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

# torch first: pip then takes the build named in constraints.txt for all that need it.
$(VENV)/.dev: $(VENV)/.graphfill
	$(PIP) torch
	$(PIP) --editable ".[dev,bench]"
	touch $@

$(VENV)/.bench: $(VENV)/.graphfill
	$(PIP) torch
	$(PIP) --editable ".[bench]"
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build dist demo-output docs/_build docs/api src/*.egg-info src/graphfill/*/*.so
