#!/bin/sh
# run_suite.sh BUILD SUITE -- the common suite in C. SPDX-License-Identifier: Apache-2.0
exec "$1/bindings/c/suite_c" run "$2"
