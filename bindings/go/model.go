// SPDX-License-Identifier: Apache-2.0

// Package rnnpack runs recurrent networks (LSTM, GRU, RNN) at small batch, from blobs that `rnnpack compile` makes of ONNX files.
//
// A Model is read by any number of goroutines. A Session is used by one at a time: a call while another goroutine is in one
// returns ErrInUse. Slices go to the library as they are; nothing is allocated while a session runs.
package rnnpack

// #include <stdlib.h>
// #include <rnnpack/rnnpack.h>
import "C"

import (
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// Role of a model's input or output.
type Role uint32

// DType is the type of a tensor's elements.
type DType uint32

// Tensor is an input or output of a model.
type Tensor struct {
	Name     string
	Role     Role  // RoleSequence, RolePerRun, RoleState, RoleLengths
	DType    DType // DtypeF32, DtypeI32
	RowElems int   // features of one row
	Dims     []int // the ONNX axes; DimSteps, DimBatch or a constant
	Limit    uint32
}

// Elems in a run of so many steps and rows.
func (t Tensor) Elems(steps, batch int) int {
	if t.Role == RoleSequence {
		return steps * batch * t.RowElems
	}
	return batch * t.RowElems
}

// Info is what a model is, as a whole.
type Info struct {
	BlobVersion, NodeCount, RecurrentCount, FixedBatch             uint32
	Causal                                                         bool
	BlobBytes, WeightBytes, StateBytesPerRow, ModelID, MACsPerStep uint64
}

// Model is an opened blob. Close it, or leave it to the garbage collector.
type Model struct {
	raw     C.rnnp_model
	Inputs  []Tensor
	Outputs []Tensor

	mutex sync.Mutex
	blob  unsafe.Pointer // in C's memory: sessions keep its address
	users int            // sessions, and one while the model is open
	open  bool
}

// OpenFile reads a blob and opens it. The weights' checksum is verified.
func OpenFile(path string) (*Model, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Open(bytes)
}

// Open copies a blob to aligned memory, checks it and opens it there.
func Open(blob []byte) (*Model, error) {
	m := &Model{users: 1, open: true}
	size := C.size_t(len(blob))
	m.blob = C.aligned_alloc(C.RNNP_BLOB_ALIGN, (size+2*C.RNNP_BLOB_ALIGN-1)&^(C.RNNP_BLOB_ALIGN-1))
	if m.blob == nil {
		return nil, ErrSmallMemory
	}
	copy(unsafe.Slice((*byte)(m.blob), len(blob)), blob)
	if err := check(C.rnnp_model_open(&m.raw, m.blob, size, C.RNNP_OPEN_CHECK_WEIGHTS)); err != nil {
		m.release()
		return nil, err
	}
	for i := 0; ; i++ {
		facts := C.rnnp_tensor_info{struct_bytes: C.sizeof_rnnp_tensor_info}
		if C.rnnp_model_get_input(&m.raw, C.uint32_t(i), &facts) != C.RNNP_OK {
			break
		}
		m.Inputs = append(m.Inputs, tensorOf(&facts))
	}
	for i := 0; ; i++ {
		facts := C.rnnp_tensor_info{struct_bytes: C.sizeof_rnnp_tensor_info}
		if C.rnnp_model_get_output(&m.raw, C.uint32_t(i), &facts) != C.RNNP_OK {
			break
		}
		m.Outputs = append(m.Outputs, tensorOf(&facts))
	}
	runtime.SetFinalizer(m, func(m *Model) { _ = m.Close() })
	return m, nil
}

func tensorOf(facts *C.rnnp_tensor_info) Tensor {
	t := Tensor{Name: C.GoString(facts.name), Role: Role(facts.role), DType: DType(facts.dtype), RowElems: int(facts.row_elems),
		Limit: uint32(facts.limit)}
	for _, dim := range facts.dims[:facts.rank] {
		t.Dims = append(t.Dims, int(dim))
	}
	return t
}

// Info of the model; ErrClosed after Close.
func (m *Model) Info() (Info, error) {
	if err := m.retain(); err != nil {
		return Info{}, err
	}
	defer m.release()
	f := C.rnnp_model_info{struct_bytes: C.sizeof_rnnp_model_info}
	err := check(C.rnnp_model_get_info(&m.raw, &f))
	return Info{uint32(f.blob_version), uint32(f.node_count), uint32(f.recurrent_count), uint32(f.fixed_batch), f.causal != 0,
		uint64(f.blob_bytes), uint64(f.weight_bytes), uint64(f.state_bytes_per_row), uint64(f.model_id), uint64(f.macs_per_step)}, err
}

// Meta is the text that the ONNX file, or `rnnpack compile --meta`, gave this key.
func (m *Model) Meta(key string) (string, bool) {
	if m.retain() != nil {
		return "", false
	}
	defer m.release()
	name := C.CString(key)
	defer C.free(unsafe.Pointer(name))
	value := C.rnnp_model_meta(&m.raw, name)
	return C.GoString(value), value != nil
}

// Close frees the blob, once the last session on it is closed too.
func (m *Model) Close() error {
	m.mutex.Lock()
	open := m.open
	m.open = false
	m.mutex.Unlock()
	if !open {
		return ErrClosed
	}
	runtime.SetFinalizer(m, nil)
	m.release()
	return nil
}

func (m *Model) retain() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.open {
		return ErrClosed
	}
	m.users++
	return nil
}

func (m *Model) release() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.users--
	if m.users == 0 {
		C.free(m.blob)
		m.blob = nil
	}
}
