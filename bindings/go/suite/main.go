// SPDX-License-Identifier: Apache-2.0

// suite FOLDER: bindings/suite.json in Go. FOLDER/suite.txt and its data are made by bindings/test_bindings.py.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"rnnpack"
)

type failure string

// testCase is a line of suite.txt. What goes wrong ends it by a panic with a failure.
type testCase struct {
	folder, kind, name string
	values             map[string]string
}

func (c *testCase) number(key string) int {
	n, err := strconv.Atoi(c.values[key])
	c.must(err)
	return n
}

func (c *testCase) must(err error) {
	if err != nil {
		panic(failure(err.Error()))
	}
}

func expect(right bool, what string, args ...interface{}) {
	if !right {
		panic(failure(fmt.Sprintf(what, args...)))
	}
}

func (c *testCase) bytes(key string) []byte {
	b, err := os.ReadFile(filepath.Join(c.folder, c.values[key]))
	c.must(err)
	return b
}

func (c *testCase) floats(key string) []float32 {
	b := c.bytes(key)
	all := make([]float32, len(b)/4)
	for i := range all {
		all[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return all
}

func (c *testCase) model() *rnnpack.Model {
	m, err := rnnpack.OpenFile(filepath.Join(c.folder, c.values["blob"]))
	c.must(err)
	return m
}

func reference(maxBatch, maxSteps int) rnnpack.Options {
	return rnnpack.Options{MaxBatch: uint32(maxBatch), MaxSteps: uint32(maxSteps), ISAAllowed: rnnpack.ISAReferenceOnly}
}

func (c *testCase) session(m *rnnpack.Model, o rnnpack.Options) *rnnpack.Session {
	s, err := rnnpack.NewSession(m, o)
	c.must(err)
	return s
}

func stream(s *rnnpack.Session, input []float32, from, to int) ([]float32, error) {
	out := make([]float32, to-from)
	for i := range out {
		at := (from + i) * 256
		if err := s.Step(input[at:at+256], out[i:i+1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func same(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

func (c *testCase) failsWith(err error) {
	var status rnnpack.Status
	errors.As(err, &status)
	expect(int(status) == c.number("status"), "gives %d", int(status))
}

func (c *testCase) runStatus() {
	var err error = rnnpack.Status(c.number("code"))
	var status rnnpack.Status
	expect(errors.As(err, &status) && status.Constant() == c.values["constant"], "is %s", status.Constant())
	expect(err.Error() != "" && err.Error() != rnnpack.Status(-1000).Error(), "has no text")
}

func (c *testCase) runStream() {
	input, want, labels := c.floats("input"), c.floats("output"), c.bytes("labels")
	m := c.model()
	defer m.Close()
	s := c.session(m, reference(1, 0))
	defer s.Close()
	out, err := stream(s, input, 0, len(want))
	c.must(err)
	expect(same(out, want), "other bits")
	var found, all [3]int
	for i, label := range labels {
		all[label]++
		if out[i] >= 0.5 {
			found[label]++
		}
	}
	line := fmt.Sprintf("loud speech frames found %d of %d, speech said in the gaps %d of %d frames", found[1], all[1], found[2], all[2])
	fmt.Println(line)
	expect(line == string(c.bytes("line")), "another line")
}

// runNumbers is a run on the suite's numbers: the outputs, or why it failed.
func (c *testCase) runNumbers(m *rnnpack.Model, s *rnnpack.Session, batch int, flags uint32, spoil string) ([]float32, error) {
	io := rnnpack.IO{Steps: c.number("steps"), Batch: batch, Flags: flags}
	state := uint32(1)
	for _, facts := range m.Inputs {
		input := rnnpack.Input{}
		count := facts.Elems(io.Steps, batch)
		if facts.Role != rnnpack.RoleSequence && facts.Role != rnnpack.RolePerRun {
			count = 0
		}
		for i := 0; i < count; i++ {
			state = state*1664525 + 1013904223
			if facts.DType == rnnpack.DtypeF32 {
				input.F32 = append(input.F32, float32(state>>16)/32768-1)
			} else {
				input.I32 = append(input.I32, int32((state>>16)%facts.Limit))
			}
		}
		if spoil == "nan" {
			input.F32[0] = float32(math.NaN())
		} else if spoil == "index" {
			input.I32[0] = int32(facts.Limit)
		}
		io.Inputs = append(io.Inputs, input)
	}
	for _, facts := range m.Outputs {
		io.Outputs = append(io.Outputs, make([]float32, facts.Elems(io.Steps, batch)))
	}
	err := s.RunIO(&io)
	var all []float32
	for _, output := range io.Outputs {
		all = append(all, output...)
	}
	return all, err
}

func (c *testCase) runGolden() {
	m := c.model()
	defer m.Close()
	info, err := m.Info()
	c.must(err)
	batch := c.number("batch")
	if info.FixedBatch != 0 {
		batch = int(info.FixedBatch)
	}
	s := c.session(m, reference(batch, c.number("steps")))
	defer s.Close()
	out, err := c.runNumbers(m, s, batch, 0, "no")
	c.must(err)
	expect(same(out, c.floats("output")), "other bits")
}

func (c *testCase) runRefused() {
	m := c.model()
	defer m.Close()
	s := c.session(m, reference(c.number("max_batch"), c.number("steps")))
	defer s.Close()
	_, err := c.runNumbers(m, s, c.number("batch"), uint32(c.number("flags")), c.values["spoil"])
	c.failsWith(err)
}

func (c *testCase) runThreads() {
	input, want := c.floats("input"), c.floats("output")
	m := c.model()
	defer m.Close()
	right := make([]bool, c.number("count"))
	var all sync.WaitGroup
	for i := range right {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			runtime.LockOSThread()
			if s, err := rnnpack.NewSession(m, reference(1, 0)); err == nil {
				defer s.Close()
				out, err := stream(s, input, 0, len(want))
				right[i] = err == nil && same(out, want)
			}
		}(i)
	}
	all.Wait()
	for _, one := range right {
		expect(one, "other bits")
	}
}

func (c *testCase) runState() {
	input, want, saved, at := c.floats("input"), c.floats("output"), c.bytes("state"), c.number("at")
	m := c.model()
	defer m.Close()
	loaded, streamed := c.session(m, reference(1, 0)), c.session(m, reference(1, 0))
	defer loaded.Close()
	defer streamed.Close()
	c.must(loaded.LoadState(0, saved))
	out, err := stream(loaded, input, at, len(want))
	c.must(err)
	expect(same(out, want[at:]), "goes on with other bits")
	_, err = stream(streamed, input, 0, at)
	c.must(err)
	state, err := streamed.SaveState(0)
	c.must(err)
	expect(bytes.Equal(state, saved), "saves other bytes")
}

func (c *testCase) runLoad() {
	input, want := c.floats("input"), c.floats("output")
	m := c.model()
	defer m.Close()
	s := c.session(m, reference(1, 0))
	defer s.Close()
	c.failsWith(s.LoadState(0, c.bytes("state")))
	out, err := stream(s, input, 0, 10)
	c.must(err)
	expect(same(out, want[:10]), "the state has changed")
}

func (c *testCase) runOpen() {
	_, err := rnnpack.Open(c.bytes("blob"))
	c.failsWith(err)
}

func (c *testCase) runSession() {
	m := c.model()
	defer m.Close()
	_, err := rnnpack.NewSession(m, reference(c.number("max_batch"), c.number("max_steps")))
	c.failsWith(err)
}

func residentKiB() int {
	debug.FreeOSMemory() // what the garbage collector keeps for later is no growth
	text, _ := os.ReadFile("/proc/self/status")
	fields := strings.Fields(strings.SplitN(string(text), "VmRSS:", 2)[1])
	n, _ := strconv.Atoi(fields[0])
	return n
}

func (c *testCase) runGrowth() {
	count, before := c.number("count"), 0
	x, y := make([]float32, 256), make([]float32, 1)
	blob := c.bytes("blob")
	for i := 0; i < count; i++ {
		m, err := rnnpack.Open(blob)
		c.must(err)
		s := c.session(m, reference(1, 0))
		c.must(s.Step(x, y))
		c.must(s.Close())
		c.must(m.Close())
		if i == count/10 {
			before = residentKiB()
		}
	}
	grown := residentKiB() - before
	expect(grown <= c.number("limit_kib"), "grew by %d KiB", grown)
}

func (c *testCase) runMisuse() {
	input, y := c.floats("input"), make([]float32, 1)
	m := c.model()
	s := c.session(m, reference(1, 0))
	switch c.values["what"] {
	case "closed_session":
		c.must(s.Close())
		expect(s.Step(input[:256], y) == rnnpack.ErrClosed && s.Close() == rnnpack.ErrClosed, "is no ErrClosed")
		s = c.session(m, reference(1, 0))
	case "closed_model": // its sessions go on
		c.must(m.Close())
		_, err := rnnpack.NewSession(m, reference(1, 0))
		expect(err == rnnpack.ErrClosed, "gives %v", err)
	case "short_input":
		expect(s.Step(input[:255], y) == rnnpack.ErrShape, "is no ErrShape")
	case "short_output":
		expect(s.Step(input[:256], nil) == rnnpack.ErrShape, "is no ErrShape")
	case "two_threads":
		expect(meet(s, input), "no ErrInUse")
	}
	c.must(s.Step(input[:256], y))
}

// meet calls Step while another goroutine is in a long run: whether one of the calls, of either, gave ErrInUse.
func meet(s *rnnpack.Session, input []float32) bool {
	frames := len(input) / 256
	out := make([]float32, frames)
	done, met := false, false
	var all sync.WaitGroup
	all.Add(1)
	results := make(chan error, 64)
	go func() {
		defer all.Done()
		for i := 0; i < 64; i++ {
			results <- s.Run(frames, input, out)
		}
		close(results)
	}()
	y := make([]float32, 1)
	for !done {
		select {
		case err, more := <-results:
			if !more {
				done = true
			}
			met = met || err == rnnpack.ErrInUse
		default:
			if s.Step(input[:256], y) == rnnpack.ErrInUse {
				met = true
			}
		}
	}
	all.Wait()
	return met
}

func (c *testCase) runOverhead() {
	const piece = 1000
	m := c.model()
	defer m.Close()
	s := c.session(m, rnnpack.Options{})
	defer s.Close()
	x, y := make([]float32, 8), make([]float32, 16)
	least := time.Hour
	for i := 0; i < c.number("count")/piece; i++ {
		start := time.Now()
		for k := 0; k < piece; k++ {
			if err := s.Step(x, y); err != nil {
				panic(failure(err.Error()))
			}
		}
		if spent := time.Since(start); spent < least {
			least = spent
		}
	}
	fmt.Printf("overhead %.1f\n", float64(least.Nanoseconds())/piece)
	least = time.Hour
	for i := 0; i < 1000; i++ {
		start := time.Now()
		for k := 0; k < piece; k++ {
			rnnpack.Version()
		}
		if spent := time.Since(start); spent < least {
			least = spent
		}
	}
	fmt.Printf("empty %.1f\n", float64(least.Nanoseconds())/piece)
}

func (c *testCase) run() (why interface{}) {
	defer func() { why = recover() }()
	kinds := map[string]func(){"status": c.runStatus, "stream": c.runStream, "golden": c.runGolden, "threads": c.runThreads,
		"state": c.runState, "load": c.runLoad, "open": c.runOpen, "session": c.runSession, "run": c.runRefused,
		"growth": c.runGrowth, "misuse": c.runMisuse, "compile": c.runCompile, "overhead": c.runOverhead}
	kinds[c.kind]()
	return nil
}

func main() {
	folder := os.Args[1]
	text, err := os.ReadFile(filepath.Join(folder, "suite.txt"))
	if err != nil {
		panic(err)
	}
	failures := 0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.Fields(line)
		c := testCase{folder, words[0], words[1], map[string]string{}}
		for _, word := range words[2:] {
			pair := strings.SplitN(word, "=", 2)
			c.values[pair[0]] = pair[1]
		}
		if why := c.run(); why != nil {
			fmt.Printf("FAILED %s: %v\n", c.name, why)
			failures++
		} else {
			fmt.Println("ok", c.name)
		}
	}
	if failures != 0 {
		os.Exit(1)
	}
}
