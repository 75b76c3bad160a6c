# The entry points of the project. `make help` lists them.
JOBS ?= $(shell nproc)

build: ## build the libraries and the command into build/
	cmake -S . -B build
	cmake --build build -j$(JOBS)

.PHONY: build
