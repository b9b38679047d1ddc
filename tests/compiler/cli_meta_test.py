#!/usr/bin/env python3
"""Metadata: of the ONNX file, of --meta, in the blob and out of it again.

cli_meta_test.py RNNPACK
SPDX-License-Identifier: Apache-2.0"""
import json
import sys
import unittest

import onnx
from cli_support import InFolder, Tool, save_onnx

import read_blob

rnnpack = Tool(sys.argv[1])


class Meta(InFolder):
    def save(self, **props):
        save_onnx(self.onnx, [("Tanh", ["x"], ["y"], {})], {"x": ["T", "N", 4]}, ["y"], {})
        model = onnx.load(str(self.onnx))
        for key, value in props.items():
            model.metadata_props.add(key=key, value=value)
        onnx.save(model, str(self.onnx))

    def compiled(self, *options):
        self.said = rnnpack("compile", self.onnx, "-o", self.blob, *options).stderr
        document = json.loads(rnnpack("inspect", "--json", self.blob).stdout)
        self.assertEqual(document, read_blob.read(self.blob))
        self.model_id = document["model_id"]
        return document["metadata"]

    def test_the_files_own_and_the_callers(self):
        self.save(rate="16000", author="Zoë", empty="")
        self.assertEqual(self.compiled(), {"rate": "16000", "author": "Zoë"})
        first = self.model_id
        self.assertEqual(self.compiled("--meta", "rate=8000=", "--meta", "author=", "--meta", "new=a b"), {"rate": "8000=", "new": "a b"})
        self.assertEqual(first, self.model_id)
        self.assertEqual(self.compiled("--no-onnx-meta"), {})
        self.assertEqual(self.compiled("--no-onnx-meta", "--meta", "rate=1"), {"rate": "1"})

    def test_what_a_blob_cannot_hold_is_left_out_and_said(self):
        self.save(labels="x" * 65536, rate="16000", nul="a\0b")
        self.assertEqual(self.compiled(), {"rate": "16000"})
        self.assertIn("metadata 2 texts are left out ('labels', 65536 bytes: a blob holds 65536 bytes", self.said)

    def test_bad_options_are_refused(self):
        self.save()
        for text in ("rate", "=16000", "a=" + "x" * 65536):
            self.assertIn("--meta", rnnpack("compile", self.onnx, "-o", self.blob, "--meta", text, code=1).stderr)
        self.assertIn("'a' twice", rnnpack("compile", self.onnx, "-o", self.blob, "--meta", "a=1", "--meta", "a=2", code=1).stderr)
        self.assertFalse(self.blob.exists())

    def test_text_shows_what_is_long_by_its_start(self):
        self.save(labels="l" * 500, rate='16"000\n')
        rnnpack("compile", self.onnx, "-o", self.blob)
        text = rnnpack("inspect", self.blob).stdout
        self.assertIn("metadata:\n", text)
        self.assertIn('  rate             "16\\"000\\n"\n', text)
        self.assertIn('"' + "l" * 100 + '" ... (500 bytes)\n', text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
