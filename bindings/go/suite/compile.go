// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"

	"rnnpack/compiler"
)

func (c *testCase) runCompile() {
	var options []string
	if c.values["option"] != "-" {
		options = []string{c.values["option"]}
	}
	made, err := compiler.Compile(c.bytes("onnx"), options...)
	var failed *compiler.Error
	if errors.As(err, &failed) {
		expect(int(failed.Status) == c.number("status") && failed.Text != "", "gives %d: %s", failed.Status, failed.Text)
		return
	}
	c.must(err)
	expect(c.number("status") == 0 && bytes.Equal(made.Blob, c.bytes("blob")), "another blob")
}
