# Needs python3 (3.11 or newer), pip and make, and compiles with the C++ compiler there is, or else one from pip.
# `make demo` and `make test` set up .venv by themselves, and again after a change of the C++ sources.
PYTHON ?= python3
BIN := .venv/bin
NATIVE := hatch_build.py $(wildcard src/hyperclus/_native/*.h src/hyperclus/_native/*.cc)

.PHONY: setup peers docs demo test test-slow test-lowest wheels release-check try-wheel fuzz bench bench-full real reproduction picture clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hyperclus needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[test]' --constraint constraints.txt
	touch $@

# Other hypergraph libraries, in an environment of their own: HyperNetX needs an older pandas.
peers: .venv-peers/.ready

.venv-peers/.ready: pyproject.toml constraints-peers.txt $(NATIVE)
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --editable '.[pandas,peers]' hypothesis pytest --constraint constraints-peers.txt
	touch $@

# The site, in docs/_build/html. Needs no network once .venv-docs is installed; every warning is an error, and so
# is a link that leads nowhere or a file that a page would load from another host.
docs: .venv-docs/.ready
	.venv-docs/bin/sphinx-build -b html -d docs/_build/doctrees -W --keep-going docs docs/_build/html
	.venv-docs/bin/python docs/_ext/check_site.py docs/_build/html

.venv-docs/.ready: pyproject.toml constraints-docs.txt $(NATIVE)
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --editable '.[docs]' --constraint constraints-docs.txt
	touch $@

demo: setup
	@$(BIN)/hyperclus demo --report demo.html

test: setup peers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 -q
	.venv-peers/bin/pytest -q tests/peers

test-slow: setup
	$(BIN)/pytest -q -m slow

# The tests that use libraries, with the lowest version of each that pyproject.toml allows. Newer libraries below them may
# warn of what these old ones do, so that warnings are no errors.
PYTHON311 ?= python3.11
LOWEST ?= tests/cli tests/datasets tests/engines tests/explore tests/hypergraph tests/io tests/report tests/verification tests/test_package.py \
	tests/test_packaging.py tests/test_sklearn.py
test-lowest: .venv-lowest/.ready
	.venv-lowest/bin/pytest -n 2 -q -W default $(LOWEST)

.venv-lowest/.ready: pyproject.toml tests/support/lowest.py $(NATIVE)
	$(PYTHON311) -m venv --clear .venv-lowest
	$(PYTHON311) tests/support/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --editable '.[test]' --constraint .venv-lowest/constraints.txt
	touch $@

# The source distribution and a wheel for each platform, all compiled here by ziglang; only one of them can be run here.
PLATFORMS ?= manylinux_2_17_x86_64 manylinux_2_17_aarch64 macosx_11_0_x86_64 macosx_11_0_arm64 win_amd64
wheels: .venv-release/.ready
	rm -rf dist
	.venv-release/bin/python -m build --sdist --outdir dist .
	set -e; for platform in $(PLATFORMS); do \
		HYPERCLUS_PLATFORM=$$platform .venv-release/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist dist/*.tar.gz; \
	done

# Of what is in dist. EXTRAS='excel xgi' tries these only.
release-check: .venv-release/.ready
	.venv-release/bin/validate-pyproject pyproject.toml
	.venv-release/bin/twine check --strict dist/*
	.venv-release/bin/check-wheel-contents dist/*.whl
	.venv-release/bin/auditwheel show dist/*manylinux*x86_64.whl
	.venv-release/bin/cffconvert --validate
	.venv-release/bin/pyroma --min 8 dist/*.tar.gz
	.venv-release/bin/python tests/release.py dist --recipe conda/recipe/recipe.yaml --extras $(EXTRAS)

.venv-release/.ready: constraints-release.txt
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --requirement constraints-release.txt
	touch $@

try-wheel:
	$(PYTHON) tests/release.py dist --try

# Minutes of all targets together, such as `make fuzz MINUTES=30`, or TARGETS='csv hif'. Without atheris, which is
# not there for every Python and system, inputs are changed at random.
MINUTES ?= 5
fuzz: setup
	-$(BIN)/python -m pip install --quiet --editable '.[fuzz]' --constraint constraints.txt
	$(BIN)/python tests/fuzz/run.py --minutes $(MINUTES) $(TARGETS)

# Minutes, and about an hour. The same command resumes an interrupted run; FLAGS=--fresh measures everything again.
bench: setup
	$(BIN)/python benchmarks/run.py $(FLAGS)

bench-full: setup
	$(BIN)/python benchmarks/run.py --full $(FLAGS)

# Real data with known classes, beside other methods, which get environments of their own. The same command resumes;
# FLAGS='--methods hyperclus --fresh' measures hyperclus alone again.
REAL ?= ../shared/real
real: setup
	$(BIN)/python benchmarks/real.py $(REAL) $(FLAGS)

reproduction: setup
	$(BIN)/hyperclus reproduce --slow --fresh --markdown > docs/research/reproduction.new
	mv docs/research/reproduction.new docs/research/reproduction.md

picture: setup
	$(BIN)/python examples/screenshot.py docs/images/report.png docs/images/report-dark.png docs/images/report-first-screen.png docs/images/report-why.png

clean:
	rm -rf .venv .venv-peers .venv-docs .venv-lowest .venv-release docs/_build docs/tutorials docs/gallery docs/reference/api/generated docs/reference/api/backreferences .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist
