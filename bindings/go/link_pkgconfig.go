//go:build rnnpack_pkgconfig

// SPDX-License-Identifier: Apache-2.0

package rnnpack

// The installed archive: go build -tags rnnpack_pkgconfig.

// #cgo pkg-config: rnnpack-static
import "C"
