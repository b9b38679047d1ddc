#!/bin/sh
# run_suite.sh BUILD SUITE -- the crates: their tests and the common suite, on the archive of BUILD; the suite again with Debian's Rust
# 1.63 on the sources that `rnnpack sources` writes; no_std. SPDX-License-Identifier: Apache-2.0
set -eu
build=$1 suite=$2
cd "$(dirname "$0")"
export CARGO_NET_OFFLINE=true
oldest=/usr/bin/cargo
[ -x "$oldest" ] || oldest=cargo
echo "version $(rustc --version | cut -d' ' -f2), $(PATH=/usr/bin:$PATH rustc --version | cut -d' ' -f2)"

export RNNPACK_COMPILER_DIR="$build/src/compiler" LD_LIBRARY_PATH="$build/src/compiler"
export RNNPACK_LIB_DIR="$build/src" CARGO_TARGET_DIR="$build/rust"
cargo test -q --workspace >"$build/rust-test.log" 2>&1 || { cat "$build/rust-test.log"; exit 1; }
cargo build -q --release --features compiler --example suite
cargo build -q -p rnnpack --no-default-features
"$build/rust/release/examples/suite" "$suite"

unset RNNPACK_LIB_DIR
rm -rf "$build/rust-sources"
"$build/src/compiler/rnnpack" sources "$build/rust-sources" 2>/dev/null
export RNNPACK_SOURCES="$build/rust-sources" CARGO_TARGET_DIR="$build/rust-oldest" PATH="/usr/bin:$PATH"
"$oldest" build -q --release --features compiler --example suite
"$oldest" build -q --release -p rnnpack --no-default-features
"$build/rust-oldest/release/examples/suite" "$suite" >"$build/rust-oldest.log" || { grep FAILED "$build/rust-oldest.log"; exit 1; }
