// SPDX-License-Identifier: Apache-2.0

package rnnpack_test

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"rnnpack"
)

func blob(t testing.TB) []byte {
	t.Helper()
	bytes, err := os.ReadFile("testdata/lstm.rnnp")
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func open(t testing.TB) (*rnnpack.Model, *rnnpack.Session) {
	t.Helper()
	m, err := rnnpack.Open(blob(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := rnnpack.NewSession(m, rnnpack.Options{MaxBatch: 3})
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func TestAModelDescribesItself(t *testing.T) {
	m, _ := open(t)
	x, y := m.Inputs[0], m.Outputs[0]
	if x.Name != "x" || x.RowElems != 8 || x.Role != rnnpack.RoleSequence || len(m.Inputs) != 1 || y.Elems(2, 3) != 96 {
		t.Error(x, y)
	}
	if name, there := m.Meta("name"); !there || name != "lstm_f32_avx512" {
		t.Error(name)
	}
	if _, there := m.Meta("nobody"); there {
		t.Error("a key that is not there")
	}
}

func TestRowsLengthsAndAbsentOutputs(t *testing.T) {
	_, s := open(t)
	x, y := make([]float32, 32), make([]float32, 64)
	for i := range x {
		x[i] = 0.5
	}
	io := rnnpack.IO{Steps: 2, Batch: 2, Lengths: []int32{1, 2}, Rows: []uint32{2, 0}, Inputs: []rnnpack.Input{{F32: x}}, Outputs: [][]float32{y}}
	if err := s.RunIO(&io); err != nil || y[32] != 0 || y[48] == 0 {
		t.Error(err, y)
	}
	io.Outputs[0] = nil
	if err := s.RunIO(&io); err != nil {
		t.Error(err)
	}
	io.Lengths = io.Lengths[:1]
	if err := s.RunIO(&io); !errors.Is(err, rnnpack.ErrShape) {
		t.Error(err)
	}
	io.Lengths, io.Rows = nil, []uint32{1, 1}
	if err := s.RunIO(&io); err == nil {
		t.Error("a row twice")
	}
}

// Any mix of calls from many goroutines: each is answered, and the race detector sees no race.
func TestGoroutinesInOneSession(t *testing.T) {
	m, s := open(t)
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			x, y := make([]float32, 24), make([]float32, 48)
			for k := 0; k < 300; k++ {
				err := s.Step(x, y)
				if i == 7 && k == 200 {
					err = s.Close()
				}
				if err != nil && err != rnnpack.ErrInUse && err != rnnpack.ErrClosed {
					t.Error(err)
				}
				_, _ = s.SaveState(0)
				_ = s.Reset(rnnpack.AllRows)
			}
		}(i)
	}
	all.Wait()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestAClosedModelServesItsSessions(t *testing.T) {
	m, s := open(t)
	if m.Close() != nil || m.Close() != rnnpack.ErrClosed {
		t.Error("Close")
	}
	if err := s.Step(make([]float32, 24), make([]float32, 48)); err != nil {
		t.Error(err)
	}
	if _, err := m.Info(); err != rnnpack.ErrClosed {
		t.Error(err)
	}
}

func TestTheGarbageCollectorCloses(t *testing.T) {
	bytes := blob(t)
	for i := 0; i < 2000; i++ {
		m, err := rnnpack.Open(bytes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rnnpack.NewSession(m, rnnpack.Options{}); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
}

func ExampleSession_Step() {
	m, err := rnnpack.OpenFile("testdata/lstm.rnnp")
	if err != nil {
		panic(err)
	}
	defer m.Close()
	s, err := rnnpack.NewSession(m, rnnpack.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	x, y := make([]float32, 8), make([]float32, 16)
	for i := 0; i < 3; i++ {
		if err := s.Step(x, y); err != nil {
			panic(err)
		}
	}
	// Output:
}
