//go:build !rnnpack_pkgconfig

// SPDX-License-Identifier: Apache-2.0

package rnnpack

// The headers and the archive of this platform, which library.sh puts here: a program links them, and needs no environment.

// #cgo CFLAGS: -I${SRCDIR}/include
// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/lib/linux_amd64/librnnpack.a
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/lib/linux_arm64/librnnpack.a
// #cgo linux,arm LDFLAGS: ${SRCDIR}/lib/linux_arm/librnnpack.a
// #cgo linux,386 LDFLAGS: ${SRCDIR}/lib/linux_386/librnnpack.a
// #cgo darwin,arm64 LDFLAGS: ${SRCDIR}/lib/darwin_arm64/librnnpack.a
// #cgo darwin,amd64 LDFLAGS: ${SRCDIR}/lib/darwin_amd64/librnnpack.a
// #cgo windows,amd64 LDFLAGS: ${SRCDIR}/lib/windows_amd64/librnnpack.a
// #cgo LDFLAGS: -lm
import "C"
