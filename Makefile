# The ways into the project; `make help` lists them. None needs an argument.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
VENV := build/venv
GO ?= go
export PKG_CONFIG_PATH := $(CURDIR)/build/pkgconfig:$(PKG_CONFIG_PATH)

# $(call need,PROGRAM...): stops with advice when one of them isn't there.
need = @for program in $(1); do command -v $$program >/dev/null || \
  { echo "lockc: $$program is missing; \`make setup\` installs it" >&2; exit 1; }; done
# $(call cmake,PRESET,OPTIONS): configures and builds.
cmake = cmake --preset $(1) $(if $(WERROR),-DLOCKC_WERROR=$(WERROR)) $(2) >/dev/null && \
  cmake --build --preset $(1) -j$(JOBS)
submake = @$(MAKE)
MAKEFLAGS += --no-print-directory

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do \
	  printf 'make %-12s %s\n' "$$name" "$$text"; done

setup: ## install what is missing (apt-get; Python tools go to build/venv)
	@tools/setup.sh

build: ## build liblockc.so, liblockc.a and the command into build/
	$(call need,cmake c++ pkg-config)
	@$(call cmake,release)

$(VENV)/bin/python:
	@tools/setup.sh bindings

# Installing again is cheap, but not free: it happens when a source is newer than the last time.
python_sources := pyproject.toml CMakeLists.txt capi/include/lockc/lockc.h \
  $(shell find bindings/python -type f -not -path '*/__pycache__/*')
$(VENV)/lockc.installed: build/liblockc.a $(python_sources)
	@$(VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall \
	  --config-settings=cmake.define.LOCKC_ARCHIVE=$(CURDIR)/build/liblockc.a .
	@touch $@

python: build $(VENV)/bin/python ## install the Python package into build/venv
	$(submake) $(VENV)/lockc.installed

go: build ## build the Go package against build/
	$(call need,$(GO))
	@cd bindings/go && $(GO) build ./...

demo: ## set-up, build, then workers in four languages with one lock
	@tools/setup.sh build bindings
	$(submake) build python go
	@tools/demo.sh

test: ## set-up, build, then all tests
	@tools/setup.sh build bindings test
	@$(call cmake,release,-DLOCKC_TESTS=ON)
	$(submake) python go
	@tools/test.sh

stress: ## the tests of contention and faults at full numbers; takes ten minutes
	@tools/setup.sh build bindings test
	@$(call cmake,release)
	$(submake) python go
	@tools/stress.sh

test-asan: ## the C and C++ tests under AddressSanitizer and UBSan
	@tools/setup.sh build test
	@$(call cmake,asan)
	@tools/test.sh build/asan

test-tsan: ## the C and C++ tests under ThreadSanitizer
	@tools/setup.sh build test
	@$(call cmake,tsan)
	@tools/test.sh build/tsan

sim: ## SEEDS=n worlds of faults under virtual time, or SEED=s alone
	@tools/setup.sh build test
	@cmake --preset release -DLOCKC_TESTS=ON >/dev/null && \
	  cmake --build --preset release -j$(JOBS) --target sim
	@SEEDS=$(SEEDS) SEED=$(SEED) build/tests/sim/sim --gtest_filter='Simulation.*'

fuzz: ## FUZZ_SECONDS=n (20) of any bytes for each fuzz target, or for FUZZ=name alone
	@tools/setup.sh build fuzz
	@$(call cmake,fuzz)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/fuzz.sh $(FUZZ)

instructions: build ## count the instructions of an uncontended pair; RECORD=1 keeps the number
	@tools/setup.sh test
	@$(VENV)/bin/python tests/instructions/counting.py $(if $(RECORD),--record)

model: ## search the protocol's states for a way to break it
	$(call need,c++)
	@tests/model/run.sh

bench: ## measure all workloads against the raw limit, and other libraries
	@tools/setup.sh build bindings bench
	@tools/setup.sh rivals || echo "bench: some libraries will be unavailable"
	@$(VENV)/bin/python bench/rivals/setup.py
	@$(call cmake,release,-DLOCKC_BENCH=ON)
	$(submake) python go
	@$(VENV)/bin/python bench/run.py

bench-quick: ## the same in two minutes
	@tools/setup.sh build bindings bench
	@$(call cmake,release,-DLOCKC_BENCH=ON)
	$(submake) python go
	@$(VENV)/bin/python bench/run.py --quick

build/bench/venv/plots.installed: bench/requirements.txt
	@tools/setup.sh bindings
	@$(VENV)/bin/python -m venv build/bench/venv
	@build/bench/venv/bin/python -m pip install --quiet --requirement $<
	@touch $@

bench-plots: build/bench/venv/plots.installed ## put the results of `make bench` into docs/
	@build/bench/venv/bin/python bench/report.py build/bench/full.json --into docs/benchmarks.md
	@build/bench/venv/bin/python bench/plot.py build/bench/full.json docs/plots

lint: ## check style, types and include directions
	@tools/lint.sh

tidy: build ## let clang-tidy look at the C++ sources; takes minutes
	$(call need,clang-tidy-14)
	@git ls-files 'core/*.cc' 'capi/*.cc' 'cli/*.cc' | \
	  xargs -P $(JOBS) -n 1 clang-tidy-14 --quiet -p build

format: ## format the sources in place
	@tools/lint.sh --format

abi: build ## compare the ABI of build/liblockc.so with the released one
	@tests/abi/check.sh

docs: ## check that the links of the documentation lead somewhere
	$(call need,python3)
	@python3 tools/lint_docs.py

install: build ## install under PREFIX (/usr/local), below DESTDIR if given
	@cmake -DCMAKE_INSTALL_PREFIX=$(PREFIX) build >/dev/null
	@DESTDIR=$(DESTDIR) cmake --install build
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

clean: ## delete build/
	rm -rf build

.PHONY: help setup build python go demo test stress test-asan test-tsan sim fuzz instructions model bench bench-quick bench-plots \
  lint tidy format abi docs install clean
