// SPDX-License-Identifier: Apache-2.0

package rnnpack

// #include <stdlib.h>
// #include <rnnpack/rnnpack.h>
//
// // Go's pointers may not lie in memory that is passed to C, so they come as arguments, one by one.
// enum { kMaxTensors = 8 };
// static rnnp_status run_io(rnnp_session *session, uint32_t flags, uint32_t batch, size_t steps, const int32_t *lengths,
//                           const uint32_t *rows, uint32_t inputs, uint32_t outputs, const void *x0, const void *x1, const void *x2,
//                           const void *x3, const void *x4, const void *x5, const void *x6, const void *x7, void *y0, void *y1,
//                           void *y2, void *y3, void *y4, void *y5, void *y6, void *y7) {
//   const rnnp_const_buffer in[kMaxTensors] = {{x0, 0, 0}, {x1, 0, 0}, {x2, 0, 0}, {x3, 0, 0},
//                                              {x4, 0, 0}, {x5, 0, 0}, {x6, 0, 0}, {x7, 0, 0}};
//   const rnnp_buffer out[kMaxTensors] = {{y0, 0, 0}, {y1, 0, 0}, {y2, 0, 0}, {y3, 0, 0}, {y4, 0, 0}, {y5, 0, 0}, {y6, 0, 0}, {y7, 0, 0}};
//   rnnp_io io = RNNP_IO_INIT;
//   io.flags = flags;
//   io.batch = batch;
//   io.steps = steps;
//   io.input_count = inputs;
//   io.output_count = outputs;
//   io.lengths = lengths;
//   io.inputs = in;
//   io.outputs = out;
//   io.rows = rows;
//   return rnnp_run_io(session, &io);
// }
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Options of a session; the zero value is one row, every instruction set.
type Options struct {
	MaxBatch   uint32 // rows; 0 is 1
	MaxSteps   uint32 // the longest run of a model that is not causal
	ISAAllowed uint32 // ISA... bits; 0 for all
	Flags      uint32 // Session... bits
}

// What a session's state word says.
const (
	idle int32 = iota
	inUse
	closed
)

// Session is a running instance: the state of its rows, and scratch. Close it, or leave it to the garbage collector.
type Session struct {
	raw        *C.rnnp_session
	memory     unsafe.Pointer
	model      *Model
	state      int32
	xElems     int // of a step; -1 where the first sequence holds indices
	yElems     int
	yPerRun    bool
	maxBatch   int
	stateBytes int
}

// NewSession makes a session in memory of its own.
func NewSession(m *Model, o Options) (*Session, error) {
	if err := m.retain(); err != nil {
		return nil, err
	}
	s := &Session{model: m, xElems: -1}
	if err := s.create(o); err != nil {
		C.free(s.memory)
		m.release()
		return nil, err
	}
	runtime.SetFinalizer(s, func(s *Session) { _ = s.Close() })
	return s, nil
}

func (s *Session) create(o Options) error {
	var options C.rnnp_session_options
	C.rnnp_session_options_init(&options, C.sizeof_rnnp_session_options)
	if o.MaxBatch != 0 {
		options.max_batch = C.uint32_t(o.MaxBatch)
	}
	options.max_steps = C.uint32_t(o.MaxSteps)
	options.isa_allowed = C.uint32_t(o.ISAAllowed)
	options.flags = C.uint32_t(o.Flags)
	need := C.rnnp_memory{struct_bytes: C.sizeof_rnnp_memory}
	if err := check(C.rnnp_session_memory(&s.model.raw, &options, &need)); err != nil {
		return err
	}
	s.memory = C.aligned_alloc(C.size_t(need.alignment), need.session_bytes)
	if s.memory == nil {
		return ErrSmallMemory
	}
	if err := check(C.rnnp_session_init(&s.raw, &s.model.raw, &options, s.memory, need.session_bytes)); err != nil {
		return err
	}
	s.maxBatch, s.stateBytes = int(options.max_batch), int(need.state_bytes)
	for _, x := range s.model.Inputs {
		if x.Role == RoleSequence {
			if x.DType == DtypeF32 {
				s.xElems = x.RowElems * s.maxBatch
			}
			break
		}
	}
	y := s.model.Outputs[0]
	s.yElems, s.yPerRun = y.RowElems*s.maxBatch, y.Role != RoleSequence
	return nil
}

func (s *Session) enter() error {
	if atomic.CompareAndSwapInt32(&s.state, idle, inUse) {
		return nil
	}
	if atomic.LoadInt32(&s.state) == closed {
		return ErrClosed
	}
	return ErrInUse
}

func (s *Session) leave() {
	atomic.StoreInt32(&s.state, idle)
	runtime.KeepAlive(s)
}

// Close frees the session. ErrInUse while another goroutine is in it, ErrClosed the second time.
func (s *Session) Close() error {
	if err := s.enter(); err != nil {
		return err
	}
	atomic.StoreInt32(&s.state, closed)
	runtime.SetFinalizer(s, nil)
	C.free(s.memory)
	s.memory, s.raw = nil, nil
	s.model.release()
	return nil
}

// Step runs one step of all rows: [maxBatch][RowElems] of the first sequence and of the first output. ErrShape: another length.
func (s *Session) Step(x, y []float32) error {
	if len(x) != s.xElems || len(y) != s.yElems || len(x) == 0 || len(y) == 0 {
		return ErrShape
	}
	if err := s.enter(); err != nil {
		return err
	}
	status := C.rnnp_step(s.raw, unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]))
	s.leave()
	return check(status)
}

// Run runs so many steps of all rows: [steps][maxBatch][RowElems].
func (s *Session) Run(steps int, x, y []float32) error {
	ySteps := steps
	if s.yPerRun {
		ySteps = 1
	}
	if steps <= 0 || s.xElems < 0 || len(x) != steps*s.xElems || len(y) != ySteps*s.yElems || len(x) == 0 || len(y) == 0 {
		return ErrShape
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return check(C.rnnp_run(s.raw, C.size_t(steps), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])))
}

// Input of RunIO, packed: one of both, or neither for an optional one.
type Input struct {
	F32 []float32
	I32 []int32
}

// IO is what RunIO runs: all the model's inputs and outputs, in order.
type IO struct {
	Steps, Batch int
	Flags        uint32 // Run... bits
	Lengths      []int32
	Rows         []uint32
	Inputs       []Input
	Outputs      [][]float32 // nil: not wanted
}

// RunIO runs any inputs and outputs: fewer rows, lengths, chosen rows. At most eight inputs and eight outputs.
func (s *Session) RunIO(io *IO) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	var x, y [C.kMaxTensors]unsafe.Pointer
	if !s.place(io, &x, &y) {
		return ErrShape
	}
	var lengths *C.int32_t
	var rows *C.uint32_t
	if len(io.Lengths) != 0 {
		lengths = (*C.int32_t)(&io.Lengths[0])
	}
	if len(io.Rows) != 0 {
		rows = (*C.uint32_t)(&io.Rows[0])
	}
	return check(C.run_io(s.raw, C.uint32_t(io.Flags), C.uint32_t(io.Batch), C.size_t(io.Steps), lengths, rows,
		C.uint32_t(len(io.Inputs)), C.uint32_t(len(io.Outputs)), x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7],
		y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]))
}

// place compares all lengths with the model's; false: one is another.
func (s *Session) place(io *IO, x, y *[C.kMaxTensors]unsafe.Pointer) bool {
	if io.Steps < 0 || io.Batch < 0 || io.Batch > s.maxBatch || len(io.Inputs) != len(s.model.Inputs) ||
		len(io.Outputs) != len(s.model.Outputs) || len(io.Inputs) > len(x) || len(io.Outputs) > len(y) ||
		len(io.Lengths) != 0 && len(io.Lengths) != io.Batch || len(io.Rows) != 0 && len(io.Rows) != io.Batch {
		return false
	}
	for i, input := range io.Inputs {
		facts := s.model.Inputs[i]
		wanted := facts.Elems(io.Steps, io.Batch)
		switch {
		case len(input.F32) != 0 && len(input.I32) == 0 && facts.DType == DtypeF32 && len(input.F32) == wanted:
			x[i] = unsafe.Pointer(&input.F32[0])
		case len(input.I32) != 0 && len(input.F32) == 0 && facts.DType == DtypeI32 && len(input.I32) == wanted:
			x[i] = unsafe.Pointer(&input.I32[0])
		case len(input.I32) != 0 || len(input.F32) != 0:
			return false
		}
	}
	steps := io.Steps
	if io.Flags&RunLastStep != 0 {
		steps = 1
	}
	for i, output := range io.Outputs {
		if len(output) == 0 {
			continue
		}
		if len(output) != s.model.Outputs[i].Elems(steps, io.Batch) {
			return false
		}
		y[i] = unsafe.Pointer(&output[0])
	}
	return true
}

// LastError is why the last run failed; "" after a success.
func (s *Session) LastError() string {
	if err := s.enter(); err != nil {
		return err.Error()
	}
	defer s.leave()
	return C.GoString(C.rnnp_session_last_error(s.raw))
}

// Reset puts a row, or AllRows, into the initial state.
func (s *Session) Reset(row uint32) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return check(C.rnnp_state_reset(s.raw, C.uint32_t(row)))
}

// SaveState returns a row's state: bytes that a session of the same model loads in any language, on any CPU.
func (s *Session) SaveState(row uint32) ([]byte, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	state := make([]byte, s.stateBytes+1) // a state of no bytes has an address too
	err := check(C.rnnp_state_save(s.raw, C.uint32_t(row), unsafe.Pointer(&state[0]), C.size_t(s.stateBytes)))
	return state[:s.stateBytes], err
}

// LoadState loads what SaveState gave. After an error the row is as it was.
func (s *Session) LoadState(row uint32, state []byte) error {
	if len(state) == 0 {
		return ErrStateMismatch
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return check(C.rnnp_state_load(s.raw, C.uint32_t(row), unsafe.Pointer(&state[0]), C.size_t(len(state))))
}
