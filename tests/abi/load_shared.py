#!/usr/bin/env python3
"""load_shared.py LIBRARY BLOB -- the shared library as a language other than C loads it: by name, structs laid out by hand.
SPDX-License-Identifier: Apache-2.0"""
import ctypes
import sys

c = ctypes


class Memory(c.Structure):
    _fields_ = [("struct_bytes", c.c_uint32), ("alignment", c.c_uint32), ("session_bytes", c.c_size_t), ("state_bytes", c.c_size_t)]


class TensorFacts(c.Structure):
    _fields_ = [("struct_bytes", c.c_uint32), ("role", c.c_uint32), ("row_elems", c.c_uint32), ("rank", c.c_uint32),
                ("dims", c.c_int32 * 8), ("name", c.c_char_p), ("dtype", c.c_uint32), ("limit", c.c_uint32)]


class Buffer(c.Structure):
    _fields_ = [("data", c.c_void_p), ("step_stride_bytes", c.c_size_t), ("row_stride_bytes", c.c_size_t)]


class Io(c.Structure):
    _fields_ = [("struct_bytes", c.c_uint32), ("buffer_bytes", c.c_uint32), ("flags", c.c_uint32), ("batch", c.c_uint32),
                ("steps", c.c_size_t), ("input_count", c.c_uint32), ("output_count", c.c_uint32), ("lengths", c.c_void_p),
                ("inputs", c.POINTER(Buffer)), ("outputs", c.POINTER(Buffer)), ("rows", c.c_void_p)]


class Refusal(c.Structure):
    _fields_ = [("struct_bytes", c.c_uint32), ("status", c.c_int32), ("node", c.c_uint32), ("reserved", c.c_uint32),
                ("needed", c.c_uint64), ("node_name", c.c_char_p), ("op", c.c_char_p), ("reason", c.c_char_p)]


def sized(struct):
    return struct(c.sizeof(struct))


def aligned(data, alignment=64):
    memory = c.create_string_buffer(len(data) + alignment)
    at = -c.addressof(memory) % alignment
    memory[at:at + len(data)] = data
    return memory, c.c_void_p(c.addressof(memory) + at)


def main():
    library = c.CDLL(sys.argv[1])
    library.rnnp_status_string.restype = c.c_char_p

    def call(name, *arguments):
        status = getattr(library, name)(*arguments)
        if status != 0:
            raise SystemExit(f"{name}: {library.rnnp_status_string(status).decode()}")

    with open(sys.argv[2], "rb") as file:
        blob = file.read()
    kept, at = aligned(blob)
    model, memory, session = (c.c_uint64 * 32)(), sized(Memory), c.c_void_p()
    call("rnnp_model_open", model, at, c.c_size_t(len(blob)), 0)
    call("rnnp_session_memory", model, None, c.byref(memory))
    storage, place = aligned(bytes(memory.session_bytes), memory.alignment)
    call("rnnp_session_init", c.byref(session), model, None, place, c.c_size_t(memory.session_bytes))
    x, y, index = sized(TensorFacts), sized(TensorFacts), c.c_uint32(9)
    call("rnnp_model_get_input", model, 0, c.byref(x))
    call("rnnp_model_get_output", model, 0, c.byref(y))
    call("rnnp_model_find_input", model, x.name, c.byref(index))
    steps = 3
    first, second = (c.c_float * (steps * y.row_elems))(), (c.c_float * (steps * y.row_elems))()
    given = (c.c_float * (steps * x.row_elems))(*[0.01 * i for i in range(steps * x.row_elems)])
    call("rnnp_run", session, c.c_size_t(steps), given, first)
    call("rnnp_state_reset", session, c.c_uint32(0xFFFFFFFF))
    io = sized(Io)
    io.buffer_bytes, io.batch, io.steps, io.input_count, io.output_count = c.sizeof(Buffer), 1, steps, 1, 1
    io.inputs = c.pointer(Buffer(c.addressof(given)))
    io.outputs = c.pointer(Buffer(c.addressof(second)))
    call("rnnp_run_io", session, c.byref(io))
    if index.value != 0 or bytes(first) != bytes(second) or not any(first):
        raise SystemExit("rnnp_run and rnnp_run_io give other numbers")
    refusal = sized(Refusal)
    status = library.rnnp_session_explain(model, None, place, c.c_size_t(1), c.byref(refusal))
    if status != -3 or refusal.needed != memory.session_bytes or b"mem" not in refusal.reason:
        raise SystemExit(f"explain: {status}, {refusal.needed}, {refusal.reason}")
    print(f"{steps} steps of {x.name.decode()}, {refusal.reason.decode()}")


if __name__ == "__main__":
    main()
