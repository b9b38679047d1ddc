// SPDX-License-Identifier: Apache-2.0

package rnnpack

// #include <rnnpack/rnnpack.h>
import "C"

import "errors"

// Misuse that the library is never asked about.
var (
	// ErrClosed is the answer of what was closed.
	ErrClosed = errors.New("rnnpack: it is closed")
	// ErrInUse is the answer of a session that another goroutine is in. The session is as it was.
	ErrInUse = errors.New("rnnpack: another goroutine uses the session")
)

// Error is the library's line of English for the status.
func (s Status) Error() string {
	return C.GoString(C.rnnp_status_string(C.rnnp_status(s)))
}

// Constant is the name that C has for it.
func (s Status) Constant() string {
	return statusNames[s]
}

func check(status C.rnnp_status) error {
	if status == C.RNNP_OK {
		return nil
	}
	return Status(status)
}

// Version of the library: major * 10000 + minor * 100 + patch.
func Version() uint32 {
	return uint32(C.rnnp_version())
}
