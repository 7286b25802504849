# make demo [TEXT="..."], check, test, lint, docs, smoke, gpu, versions, package, package-check: each sets up .venv first.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := dev,docs,report,openvino,trf,serve
ifdef NUMPY  # instead of that of constraints.txt
PIN_NUMPY := s/^numpy==[^;]*/numpy==$(NUMPY)/
else  # scispaCy needs numpy 1
EXTRAS := $(EXTRAS),scispacy
endif
# keep bytecode even where Python is set to write none: a process then starts twice as fast
export PYTHONDONTWRITEBYTECODE :=
COMPILED := numpy pydantic scipy sklearn spacy srsly thinc torch typer weasel
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq install --no-compile
SOURCES := pyproject.toml README.md studies/pyproject.toml $(shell find spacy_pel studies/spacy_pel_studies -name '*.py' -o -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.svg' -o -name '*.tsv' -o -name '*.txt')
export OMP_NUM_THREADS ?= 1
export PEL_DEMO_TEXT = $(value TEXT)

.PHONY: demo check test lint docs smoke gpu versions package package-check clean
.DELETE_ON_ERROR:

# the packages it needs; reinstalled when a version or a requirement changes
$(VENV)/packages.stamp: constraints.txt pyproject.toml
	@echo "Setting up $(VENV): downloading torch, spaCy and others takes a few minutes the first time"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	sed '$(PIN_NUMPY)' constraints.txt > $(VENV)/constraints.txt
	$(PIP) -c $(VENV)/constraints.txt torch==2.13.0 setuptools
	rm -rf build *.egg-info
	$(PIP) -c $(VENV)/constraints.txt --no-build-isolation '.[$(EXTRAS)]'
	$(BIN)/python -m compileall -qq -j 2 $(addprefix $(VENV)/lib/python3*/site-packages/,$(COMPILED)) || true
	touch $@

# this package, installed like any other; reinstalled when one of its files changes
$(VENV)/installed.stamp: $(VENV)/packages.stamp $(SOURCES)
	rm -rf build *.egg-info
	$(PIP) --no-deps --no-build-isolation --force-reinstall . ./studies
	rm -rf build *.egg-info studies/build studies/*.egg-info
	touch $@

demo: $(VENV)/installed.stamp
	@$(BIN)/spacy-pel demo $${PEL_DEMO_TEXT:+--text="$$PEL_DEMO_TEXT"}

# tests the installed package, not the sources next to the tests
test: $(VENV)/installed.stamp
	PYTHONSAFEPATH=1 PEL_TEST_INSTALLED=1 $(BIN)/pytest -n 2 $(PYTEST_ARGS)

# what to run before each commit: under 90 s
check: lint
	PYTHONSAFEPATH=1 PEL_TEST_INSTALLED=1 $(BIN)/python -m pytest -n 2 -m "not slow" $(PYTEST_ARGS)

# the site with the reference, in build/site
docs: $(VENV)/installed.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# sdist and wheel of this package, and the wheel of the default pipeline, in dist; refuses names that may not be passed
# on, unless ALLOW="--allow SOURCE" says that a source without a known licence may be
STAGED := build/package
PIPELINE := assets/pel_medmentions
package: $(VENV)/installed.stamp
	$(BIN)/spacy-pel kb licences $(PIPELINE) $(ALLOW)
	rm -rf dist $(STAGED) build/lib build/bdist.* *.egg-info && mkdir -p dist $(STAGED)
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('dist')" > $(STAGED)/sdist.log
	cp -r $(PIPELINE) $(STAGED)/data
	cp LICENSE $(STAGED)/data/LICENSE && cp assets/README.md $(STAGED)/data/LICENSES_SOURCES
	$(BIN)/python -m spacy package $(STAGED)/data $(STAGED) --build none > $(STAGED)/spacy.log
	sed -i.bak 's/\[\(.*\)\]()/\1/' $(STAGED)/en_*/README.md  # a link to no address
	$(BIN)/python -m pip wheel -q --no-deps --no-build-isolation --use-pep517 -w dist dist/spacy_pel-*.tar.gz $(STAGED)/en_*
	rm -rf $(STAGED) *.egg-info
	ls -lh dist

# both wheels, installed into an empty environment, link a text there without a network
package-check: package
	PYTHON=$(PYTHON) .ci/check_package

# a row of the table in CONTRIBUTING.md: make test versions PYTHON=python3.13 VENV=.venv313
TABLE := numpy spacy torch transformers faiss-cpu
versions: $(VENV)/installed.stamp
	@$(BIN)/python -c "import platform, sys; from importlib.metadata import version; \
	print('|', *(one + ' |' for one in [platform.python_version()] + [version(p).partition('+')[0] for p in sys.argv[1:]]))" $(TABLE)

lint: $(VENV)/installed.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the workflow "all" on tiny data, in a copy, so that the lock file of the real run is not changed
TINY := --vars.config configs/tiny_ce.cfg --vars.proxy_config configs/tiny.cfg --vars.kb_config configs/tiny_kb.cfg \
	--vars.data assets/tiny --vars.gz "" --vars.ner_steps 60 --vars.ner_eval_frequency 30 --vars.row_bytes 8 \
	--vars.names_kb "" --vars.held_out_kb "" --vars.notes 20 --vars.steps 300 \
	--vars.study_encoder random:layers=1,width=32 --vars.study_steps 10 --vars.study_documents 0

smoke: $(VENV)/installed.stamp
	rm -rf build/smoke && mkdir -p build/smoke/assets
	cp -r project.yml configs build/smoke && cp -r assets/tiny build/smoke/assets
	$(BIN)/python -m spacy project run all build/smoke $(TINY)
	$(BIN)/python -m spacy project run paper build/smoke $(TINY)

# training, encoding, mining and linking at the paper's size on a GPU: a table; skipped with a word without one
gpu: $(VENV)/installed.stamp
	$(BIN)/python -m benchmarks.gpu --minutes $(or $(MINUTES),8)

clean:
	rm -rf $(VENV) build dist *.egg-info demo .pytest_cache .mypy_cache .ruff_cache
