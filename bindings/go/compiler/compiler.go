// SPDX-License-Identifier: Apache-2.0

// Package compiler makes blobs from ONNX files in a program's own process, as `rnnpack compile` does: rnnpack/compiler.h. It needs
// librnnpack_compiler, which hosts have; a program that only runs blobs does not import it.
package compiler

// #cgo CFLAGS: -I${SRCDIR}/../include
// #cgo LDFLAGS: -lrnnpack_compiler
// #include <stdlib.h>
// #include <rnnpack/compiler.h>
//
// int rnnpack_go_file(void *user, char *path, void *bytes, size_t size);
// int rnnpack_go_message(void *user, rnnp_compile_message kind, char *text);
//
// static inline int file(void *user, const char *path, const void *bytes, size_t size) {
//   return rnnpack_go_file(user, (char *)path, (void *)bytes, size);
// }
// static inline int message(void *user, rnnp_compile_message kind, const char *text) { return rnnpack_go_message(user, kind, (char *)text); }
// static inline rnnp_compile_status compile(const void *onnx, size_t bytes, const char **options, size_t count, uintptr_t call) {
//   return rnnp_compile(onnx, bytes, options, count, file, message, &call);
// }
import "C"

import (
	"fmt"
	"runtime/cgo"
	"unsafe"
)

// Error says why there is no blob.
type Error struct {
	Status Status
	Text   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("rnnpack: %s", e.Text)
}

// Output is what a call made.
type Output struct {
	Blob     []byte
	Files    map[string][]byte // by the paths that options name (output, emit-c, report)
	Messages []string          // notes, reports, summaries
}

type call struct {
	made Output
	why  string
}

// Compile makes a blob of an ONNX file's bytes. Options are the tool's long ones without their dashes: "target=avx2", "weights=int8".
// Calls may run at the same time.
func Compile(onnx []byte, options ...string) (*Output, error) {
	one := &call{made: Output{Files: map[string][]byte{}}}
	handle := cgo.NewHandle(one)
	defer handle.Delete()
	texts := (*[1 << 20]*C.char)(C.malloc(C.size_t(len(options)+1) * C.size_t(unsafe.Sizeof(uintptr(0)))))
	defer C.free(unsafe.Pointer(texts))
	for i, option := range options {
		texts[i] = C.CString(option)
		defer C.free(unsafe.Pointer(texts[i]))
	}
	var data unsafe.Pointer
	if len(onnx) != 0 {
		data = unsafe.Pointer(&onnx[0])
	}
	status := Status(C.compile(data, C.size_t(len(onnx)), &texts[0], C.size_t(len(options)), C.uintptr_t(handle)))
	if status != Compiled {
		return nil, &Error{status, one.why}
	}
	return &one.made, nil
}

// Version is that of the library: major * 10000 + minor * 100 + patch.
func Version() uint32 {
	return uint32(C.rnnp_compiler_version())
}

func callOf(user unsafe.Pointer) *call {
	return cgo.Handle(*(*C.uintptr_t)(user)).Value().(*call)
}

//export rnnpack_go_file
func rnnpack_go_file(user unsafe.Pointer, path *C.char, bytes unsafe.Pointer, size C.size_t) C.int {
	one, name, content := callOf(user), C.GoString(path), C.GoBytes(bytes, C.int(size))
	if name == "" {
		one.made.Blob = content
	} else {
		one.made.Files[name] = content
	}
	return 0
}

//export rnnpack_go_message
func rnnpack_go_message(user unsafe.Pointer, kind C.rnnp_compile_message, text *C.char) C.int {
	one := callOf(user)
	switch kind {
	case C.RNNP_COMPILE_ERROR:
		one.why = C.GoString(text)
	case C.RNNP_COMPILE_PROGRESS:
	default:
		one.made.Messages = append(one.made.Messages, C.GoString(text))
	}
	return 0
}
