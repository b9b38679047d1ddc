"""One file per runtime measured. Each has load(case, threads) -> Prepared, and raises Unsupported with the reason.

SPDX-License-Identifier: Apache-2.0
"""

NAMES = ("onnxruntime", "torch", "openvino", "ncnn", "litert", "onednn", "tract")
OURS = "rnnpack"
