# SPDX-License-Identifier: Apache-2.0
# Thin and self-documenting: every target is one or two commands that can be typed by hand.
# `make help` lists them; the text after ## is what it prints.
SHELL := /bin/sh
BUILD ?= build
JOBS ?= $(shell nproc)
GENERATOR := $(if $(shell command -v ninja),-G Ninja,)
LAUNCHER := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache,)
HOSTED := -DRNNPACK_XNNPACK=ON -DRNNPACK_CPUINFO=ON -DRNNPACK_PTHREADPOOL=ON -DRNNPACK_COMPILER=ON

FIRMWARE := arm-none-eabi-cortex-m0plus arm-none-eabi-cortex-m3 arm-none-eabi-cortex-m4f arm-none-eabi-cortex-m7 arm-none-eabi-cortex-m55 riscv32-unknown-elf riscv32imc-unknown-elf
BENCH_VENV ?= .venv-bench
TARGET ?= cortex-m4f

.DEFAULT_GOAL := help
.PHONY: help demo demo-speech demo-web test test-all test-by-hand test-exporters test-bindings test-desktops docs packages-build packages-test build lib freestanding board asan tsan fuzz fuzz-onnx mutants mutants-generated format format-check tidy wheel wheels release install clean bench-build bench bench-networks bench-low-precision bench-streams bench-quick bench-static test-devices firmware

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-24s %s\n", $$1, $$2}'

packages-build: scripts/packages-build.txt
	@scripts/install_packages.sh scripts/packages-build.txt

# RNNPACK_TEST_DEVICES names more targets than the boards of packages-test-devices.txt: their compilers and emulators.
packages-test: scripts/packages-build.txt scripts/packages-test.txt scripts/packages-test-devices.txt
	@scripts/install_packages.sh $^ $(if $(RNNPACK_TEST_DEVICES),scripts/packages-devices.txt)

build: packages-build ## build the library, the compiler and the demo programs (hosted: XNNPACK, cpuinfo, pthreadpool)
	@cmake -S . -B $(BUILD) $(GENERATOR) $(LAUNCHER) -DCMAKE_BUILD_TYPE=Release $(HOSTED) -DRNNPACK_DEMO=ON -DRNNPACK_HOST_TOOLS=ON >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS)

demo: build ## compile the voice-activity detector, stream recorded speech through it, show what it found
	@demo/run_demo.sh $(BUILD)

demo-speech: build ## take the noise out of speech with published networks (RNNPACK_MODELS_DIR), or gate it with the project's own
	@demo/run_speech_demo.sh $(BUILD)

demo-web: build ## the page of demo/web on http://localhost:8000: voice detection and noise suppression (RNNPACK_MODELS_DIR) in an audio worklet
	@scripts/install_packages.sh bindings/js/packages-build.txt
	@demo/web/make_page.sh $(BUILD)
	@python3 -m http.server --bind 127.0.0.1 --directory $(BUILD)/web 8000

lib: ## build the library alone, with nothing but a C++ compiler: librnnpack.a links with cc
	@cmake -S . -B $(BUILD)-lib $(GENERATOR) $(LAUNCHER) -DCMAKE_BUILD_TYPE=Release >/dev/null
	@cmake --build $(BUILD)-lib -j $(JOBS)

test: packages-test ## install what is missing, then stages format, hosted (every behaviour) and board (an emulated Cortex-M4F): nine to 15 minutes
	@scripts/test.sh $(BUILD)

test-all: packages-test ## make test, then stages freestanding, asan (fuzzers too), tsan, tidy, devices (RNNPACK_TEST_DEVICES=all for every one), bindings, desktops and by-hand
	@scripts/test.sh $(BUILD) all

asan: packages-test ## the tests and the fuzzers under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/test.sh $(BUILD) asan

freestanding: packages-test ## the library alone, by Clang, and its tests
	@scripts/test.sh $(BUILD) freestanding

board: packages-test ## the library, its tests and firmware on an emulated Cortex-M4F
	@scripts/test.sh $(BUILD) board

tsan: packages-test ## the threaded tests under ThreadSanitizer
	@scripts/test.sh $(BUILD) tsan

fuzz: packages-test ## run the libFuzzer targets for FUZZ_SECONDS each (default 60)
	@FUZZ_SEED=$${FUZZ_SEED:-0} FUZZ_SECONDS=$${FUZZ_SECONDS:-60} scripts/test.sh $(BUILD) fuzz

fuzz-onnx: packages-test ## random ONNX models beside onnxruntime, in pieces, rows and threads (FUZZ_ONNX="--seed 1 --count 10000 --minimise --keep-failures DIR")
	@tests/onnx_fuzz/fuzz_onnx.sh $(BUILD) $(FUZZ_ONNX)

test-exporters: packages-test ## export the models of docs/EXPORTING.md from the current PyTorch, Keras and JAX, compile each, compare with onnxruntime (minutes; several GB of frameworks)
	@scripts/test_exporters.sh $(BUILD) $(EXPORTERS)

test-bindings: packages-build ## the same suite in every language (bindings/), and a table of what passed (LANGS="rust go" for some)
	@scripts/test_bindings.sh $(BUILD)-bindings $(LANGS)

test-desktops: packages-build ## the library for macOS and Windows, by name musl too: built, linked, its symbols listed; run by Wine and QEMU (TARGETS=aarch64-linux-musl)
	@scripts/install_packages.sh scripts/packages-desktops.txt
	@tests/desktops/test_desktops.py $(BUILD)-desktops $(TARGETS)

docs: ## the API reference as HTML, in docs/api
	@python3 -B scripts/abi/generate.py --html docs/api

mutants: packages-test ## put one-line bugs in, one at a time, and say which test notices each; then 40 that are generated (MUTANTS=--help)
	@tests/mutants/mutants.py --work $(BUILD)-mutants --jobs $(JOBS) $(MUTANTS)
	@[ -n "$(MUTANTS)" ] || tests/mutants/generate.py --work $(BUILD)-mutants --jobs $(JOBS)

mutants-generated: packages-test ## the same with bugs that a seed draws (GENERATED="--seed 2 --count 100 src/compiler/onnx"); those that no test notices are listed
	@tests/mutants/generate.py --work $(BUILD)-mutants --jobs $(JOBS) $(GENERATED)

format: ## clang-format everything in place
	@git ls-files '*.h' '*.c' '*.cpp' | xargs clang-format -i

format-check: ## fail when a file is not formatted
	@git ls-files '*.h' '*.c' '*.cpp' | xargs clang-format --dry-run -Werror

tidy: packages-test ## clang-tidy over the device library, the compiler, the host side of CUDA and the tests (RNNPACK_TIDY_PARTS=4: a quarter of the files, the next with each commit)
	@scripts/test.sh $(BUILD) tidy

packages-cuda: scripts/packages-cuda.txt
	@scripts/install_packages.sh $^

test-cuda: packages-cuda ## build for GPUs (nvcc) and run the CUDA tests there; without nvcc or a GPU it says so and runs nothing
	@scripts/test_cuda.sh $(BUILD)-cuda test || [ $$? = 77 ]

cuda-bundle: packages-cuda ## for a first session on a GPU elsewhere: one archive of at most 60 MB (CUDAARCHS=90-real); without nvcc it says so
	@scripts/make_cuda_bundle.sh $(BUILD)-cuda-bundle $(CUDAARCHS) || [ $$? = 77 ]

bench-cuda: packages-cuda ## time the CUDA kernels on this machine's GPU; without nvcc or a GPU it says so and runs nothing
	@scripts/test_cuda.sh $(BUILD)-cuda bench || [ $$? = 77 ]

bench-build: scripts/packages-build.txt
	@scripts/install_packages.sh scripts/packages-build.txt scripts/packages-bench.txt
	@BENCH_VENV=$(BENCH_VENV) bench/setup_venv.sh
	@cmake -S . -B $(BUILD)-bench $(GENERATOR) $(LAUNCHER) -DCMAKE_BUILD_TYPE=Release $(HOSTED) -DRNNPACK_BENCH=ON >$(BUILD)-bench.log 2>&1 || { cat $(BUILD)-bench.log; exit 1; }
	@cmake --build $(BUILD)-bench -j $(JOBS)

bench: bench-build ## measure every shape beside every peer that can be installed (an hour or two; BENCH_FLAGS=--help)
	@$(BENCH_VENV)/bin/python bench/run.py --build $(BUILD)-bench $(BENCH_FLAGS)
	@$(BENCH_VENV)/bin/python bench/networks.py --build $(BUILD)-bench
	@$(BENCH_VENV)/bin/python bench/low_precision.py --build $(BUILD)-bench

bench-networks: bench-build ## whole networks beside onnxruntime: those of RNNPACK_MODELS_DIR and the project's own
	@$(BENCH_VENV)/bin/python bench/networks.py --build $(BUILD)-bench $(BENCH_FLAGS)

bench-low-precision: bench-build ## layers of low precision and of blocks beside f32, onnxruntime in f32 and int8, and the int8 of oneDNN and ncnn
	@$(BENCH_VENV)/bin/python bench/low_precision.py --build $(BUILD)-bench $(BENCH_FLAGS)

bench-streams: bench-build ## streams per core in real time: the networks of RNNPACK_MODELS_DIR and the project's own
	@bench/streams.py --build $(BUILD)-bench $(BENCH_FLAGS)

bench-quick: bench-build ## the shapes that have a target
	@$(BENCH_VENV)/bin/python bench/run.py --build $(BUILD)-bench --quick $(BENCH_FLAGS)

bench-static: ## instructions per multiply-accumulate and modelled cycles of the device kernels, without the devices
	@scripts/install_packages.sh scripts/packages-build.txt scripts/packages-devices.txt
	@bench/static/run.sh $(BUILD)-static

test-devices: ## build and test every target of toolchains/ under its emulator; firmware images included
	@scripts/install_packages.sh scripts/packages-build.txt scripts/packages-test.txt scripts/packages-devices.txt
	@scripts/test_devices.sh $(TARGETS)

ifdef MODEL
firmware: build
	@scripts/install_packages.sh scripts/packages-test-devices.txt
	@scripts/count_firmware.sh $(BUILD) $(TARGET) $(MODEL) $(COMPILE_FLAGS)
else
firmware: ## the firmware images (Cortex-M0+, M3, M4F, M7, M55, RV32), their sizes and instruction counts; with MODEL=x.onnx [TARGET=cortex-m4f] [COMPILE_FLAGS="--weights int8"] those of that model
	@scripts/install_packages.sh scripts/packages-build.txt scripts/packages-test.txt scripts/packages-devices.txt
	@scripts/test_devices.sh $(FIRMWARE)
	@firmware/count/device_table.py --functions $(addprefix build-,$(FIRMWARE))
endif

test-by-hand: packages-build ## run what README and docs mark "by hand", as a newcomer: fresh clone, fresh environment (BY_HAND="words of a command")
	@scripts/test_by_hand.sh $(BUILD) "$(BY_HAND)"

wheel: packages-build ## the Python package as a manylinux wheel in BUILD-wheel, tested in a clean environment (WHEEL_PYTHONS="python3.9 python3.13")
	@scripts/make_wheel.sh $(BUILD)-wheel $(WHEEL_PYTHONS)

wheels: packages-build ## by zig cc, wheels for musl and for AArch64 in BUILD-wheels; on each the common suite of the bindings, under QEMU or musl's loader (WHEELS=aarch64-linux-gnu)
	@scripts/install_packages.sh scripts/packages-wheels.txt
	@scripts/make_cross_wheel.sh $(BUILD)-wheels $(BUILD)-bindings $(WHEELS)

release: packages-build ## what a release consists of in dist/: sources, wheel, Debian packages, SPDX bill of materials, SHA-256 sums
	@scripts/make_release.sh $(BUILD) dist

install: build ## install into PREFIX (default /usr/local)
	@cmake --install $(BUILD) --prefix $${PREFIX:-/usr/local}

clean: ## remove all build folders
	@rm -rf $(BUILD) $(BUILD)-* $(BUILD).log
