# SPDX-License-Identifier: Apache-2.0
"""What the headers say of pointer parameters in words: the direction, how many bytes are read or written, and how long the memory
has to stay. describe.py puts it into rnnpack.abi.json and fails where a pointer has no rule.

A rule is (direction, bytes[, until]). Directions: in, out, inout, handle (an object of the library), handed (what a callback is given
as it is; nothing looks into it). `one` is one object of the pointer's type; `text` a NUL-terminated string. row(x) is 4 * row_elems
of that tensor. Parameters of callbacks are here too: what the library gives is `in`."""

CALL = "call"          # may go when the call returns
SESSION = "session"    # until the last call on the session
EXECUTOR = "executor"  # until rnnp_threads_stop

MODEL = ("handle", "one", CALL)
LIVE = ("handle", "one", SESSION)
OPTIONS = ("in", "one", CALL, "null: the defaults")
OUT, INOUT, IN, NAME = ("out", "one"), ("inout", "one"), ("in", "one"), ("in", "text")
STREAM = ("handle", "one", CALL, "null: the default stream")
X, Y = ("in", "steps * max_batch * row(input)"), ("out", "steps * max_batch * row(output), or max_batch * row(output) of a per-run output")
USER = ("handed", "none")
STEP_X, STEP_Y = ("in", "max_batch * row(input)"), ("out", "max_batch * row(output)")

RULES = {
    "rnnp_model_open": {"model": OUT, "blob": ("in", "bytes", SESSION)},
    "rnnp_model_get_info": {"model": MODEL, "facts": INOUT},
    "rnnp_model_get_input": {"model": MODEL, "facts": INOUT},
    "rnnp_model_get_output": {"model": MODEL, "facts": INOUT},
    "rnnp_model_find_input": {"model": MODEL, "name": NAME, "index": OUT},
    "rnnp_model_find_output": {"model": MODEL, "name": NAME, "index": OUT},
    "rnnp_model_meta": {"model": MODEL, "key": NAME},
    "rnnp_model_get_meta": {"model": MODEL, "key": OUT, "value": OUT},
    "rnnp_session_options_init": {"options": ("out", "struct_bytes")},
    "rnnp_session_memory": {"model": MODEL, "options": OPTIONS, "memory": INOUT},
    "rnnp_session_init": {"session": OUT, "model": MODEL, "options": OPTIONS, "mem": ("inout", "bytes", SESSION)},
    "rnnp_session_explain": {"model": MODEL, "options": OPTIONS, "scratch": ("inout", "bytes", CALL, "null: some checks are left out"),
                             "refusal": INOUT},
    "rnnp_session_get_info": {"session": LIVE, "facts": INOUT},
    "rnnp_run": {"session": LIVE, "x": X, "y": Y},
    "rnnp_step": {"session": LIVE, "x": STEP_X, "y": STEP_Y},
    "rnnp_run_f32": {"session": LIVE, "x": X, "y": Y},
    "rnnp_step_f32": {"session": LIVE, "x": STEP_X, "y": STEP_Y},
    "rnnp_input_f32": {"data": ("in", "as the run that uses it")},
    "rnnp_input_i32": {"data": ("in", "as the run that uses it")},
    "rnnp_output_f32": {"data": ("out", "as the run that uses it")},
    "rnnp_run_io": {"session": LIVE, "io": IN},
    "rnnp_session_last_error": {"session": LIVE},
    "rnnp_state_reset": {"session": LIVE},
    "rnnp_state_save": {"session": LIVE, "dst": ("out", "bytes")},
    "rnnp_state_load": {"session": LIVE, "src": ("in", "bytes")},
    "rnnp_threads_start": {"executor": INOUT, "cpu_ids": ("in", "4 * threads", CALL, "null: no pinning"), "mem": ("inout", "bytes", EXECUTOR)},
    "rnnp_threads_stop": {"executor": ("inout", "one", CALL, "null: nothing happens")},
    "rnnp_compile_sink": {"user": USER, "path": NAME, "bytes": ("in", "size")},
    "rnnp_compile_listener": {"user": USER, "text": NAME},
    "rnnp_compile": {"onnx": ("in", "onnx_bytes", CALL, "null: the file that the option model names"),
                     "options": ("in", "option_count texts", CALL, "null: none"), "user": USER},
    "rnnp_cuda_device_query": {"device": INOUT},
    "rnnp_cuda_session_memory": {"model": MODEL, "options": OPTIONS, "memory": INOUT},
    "rnnp_cuda_session_explain": {"model": MODEL, "options": OPTIONS, "refusal": INOUT},
    "rnnp_cuda_pack": {"model": MODEL, "options": OPTIONS, "image": ("out", "bytes")},
    "rnnp_cuda_session_init": {"session": OUT, "model": MODEL, "options": OPTIONS, "buffers": IN, "stream": STREAM},
    "rnnp_cuda_layer_get_info": {"session": LIVE, "facts": INOUT},
    "rnnp_cuda_plan": {"model": MODEL, "options": OPTIONS, "facts": INOUT},
    "rnnp_cuda_run": {"session": LIVE, "x": X, "y": Y, "stream": STREAM},
    "rnnp_cuda_step": {"session": LIVE, "x": STEP_X, "y": STEP_Y, "stream": STREAM},
    "rnnp_cuda_run_io": {"session": LIVE, "io": IN, "stream": STREAM},
    "rnnp_cuda_wait": {"session": LIVE, "stream": STREAM},
    "rnnp_cuda_graph_make": {"graph": OUT, "session": LIVE, "io": IN, "stream": STREAM},
    "rnnp_cuda_graph_run": {"session": LIVE, "graph": ("handle", "one", SESSION), "stream": STREAM},
    "rnnp_cuda_graph_free": {"graph": ("handle", "one", CALL, "null: nothing happens")},
    "rnnp_cuda_alloc": {"memory": OUT},
    "rnnp_cuda_free": {"memory": ("handle", "one", CALL, "null: nothing happens")},
    "rnnp_cuda_copy": {"to": ("out", "bytes"), "from": ("in", "bytes"), "stream": STREAM},
    "rnnp_cuda_error": {"session": LIVE},
    "rnnp_cuda_session_device": {"session": LIVE},
    "rnnp_cuda_state_reset": {"session": LIVE, "stream": STREAM},
    "rnnp_cuda_state_save": {"session": LIVE, "dst": ("out", "bytes"), "stream": STREAM},
    "rnnp_cuda_state_load": {"session": LIVE, "src": ("in", "bytes"), "stream": STREAM},
}


def rule(function, parameter):
    """The rule as members of the JSON."""
    try:
        direction, length, *rest = RULES[function][parameter]
    except KeyError:
        raise SystemExit(f"scripts/abi/rules.py says nothing of {function}'s {parameter}") from None
    return {"direction": direction, "bytes": length, "until": rest[0] if rest else CALL, **({"null": rest[1][6:]} if len(rest) > 1 else {})}
