#!/usr/bin/env python3
"""torch_peer.py -- PyTorch's nn.LSTM and nn.GRU, and FlashRNN's LSTM, on this machine's GPU, as rows of bench_cuda's table: medians of
calls, launch and wait included. PyTorch asks cuDNN for its persistent algorithm where it is f16, the hidden size and batch are
those that its source names (aten/src/ATen/native/cudnn/RNN.cpp, use_persist_common_heuristics), else for the standard one. Says what
is absent. Ends with 77 where there is no GPU. SPDX-License-Identifier: Apache-2.0"""
import statistics
import sys
import time

ROUNDS = 9
ROWS = [("LSTM", 128, 64, 1), ("LSTM", 256, 150, 1), ("LSTM", 512, 25, 1), ("LSTM", 512, 300, 1), ("LSTM", 512, 300, 8),
        ("LSTM", 1024, 25, 1), ("LSTM", 800, 300, 20), ("GRU", 512, 300, 1), ("GRU", 1024, 1500, 1)]


def median_seconds(torch, call):
    all_seconds = []
    for i in range(ROUNDS + 1):  # the first warms up
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        if i:
            all_seconds.append(time.perf_counter() - begin)
    return statistics.median(all_seconds)


def print_row(layer, weights, by, seconds):
    name, hidden, steps, batch = layer
    print(f"| {name} {hidden}, T {steps}, batch {batch} | {weights} | {by} | {seconds * 1e6 / steps:.2f} | {seconds * 1e6:.1f} | |")


def run_torch(torch, layer):
    name, hidden, steps, batch = layer
    for weights, dtype in (("f16", torch.float16), ("f32", torch.float32)):
        module = getattr(torch.nn, name)(hidden, hidden).to("cuda", dtype).eval()
        x = torch.randn(steps, batch, hidden, device="cuda", dtype=dtype)
        with torch.no_grad():
            print_row(layer, weights, f"PyTorch {torch.__version__}", median_seconds(torch, lambda: module(x)))


def run_flash(torch, flashrnn, layer):
    name, hidden, steps, batch = layer
    if name != "LSTM":
        return
    kernel = {"dtype": torch.float16, "device": "cuda"}
    preacts = torch.randn(batch, steps, 4, 1, hidden, **kernel)
    recurrent = torch.randn(4, 1, hidden, hidden, **kernel) / hidden**0.5
    bias = torch.zeros(4, 1, hidden, **kernel)
    try:
        with torch.no_grad():
            seconds = median_seconds(torch, lambda: flashrnn.flashrnn(preacts, recurrent, bias, function="lstm", dtype="float16"))
    except Exception as problem:  # sizes that it does not do, or its own compilation
        print(f"| {name} {hidden} | f16 | FlashRNN, recurrent part alone | refused: {str(problem).splitlines()[0][:80]} | | |")
        return
    print_row(layer, "f16", "FlashRNN, recurrent part alone", seconds)


def main():
    try:
        import torch
    except ImportError:
        print("PyTorch, FlashRNN: absent")
        return 0
    if not torch.cuda.is_available():
        print("no GPU: nothing was run")
        return 77
    try:
        from flashrnn import flashrnn
    except ImportError:
        flashrnn = None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print("| layer | weights | by | us a step | us a call | |\n|---|---|---|---|---|---|")
    for layer in ROWS:
        run_torch(torch, layer)
        if flashrnn is not None:
            run_flash(torch, flashrnn, layer)
    if flashrnn is None:
        print("\nFlashRNN: absent")
    return 0


if __name__ == "__main__":
    sys.exit(main())
