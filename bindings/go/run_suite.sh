#!/bin/sh
# run_suite.sh BUILD SUITE -- the module: go vet, its tests under the race detector, the common suite. SPDX-License-Identifier: Apache-2.0
set -eu
build=$1 suite=$2
cd "$(dirname "$0")"
export GOPROXY=off GOFLAGS=-mod=mod CGO_ENABLED=1
# What package compiler wants: an installed library needs neither.
export CGO_LDFLAGS="-L$build/src/compiler" LD_LIBRARY_PATH="$build/src/compiler"
echo "version $(go version | cut -d' ' -f3)"
./library.sh "$build"
go vet ./...
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt: $unformatted"; exit 1; }
go test -race -count=1 . >"$build/go-test.log" 2>&1 || { cat "$build/go-test.log"; exit 1; }
go build -o "$build/go-suite" ./suite
exec "$build/go-suite" "$suite"
