-- rnnpack.lua -- recurrent networks at small batch, by LuaJIT's ffi. Needs this file and librnnpack.so (RNNPACK_LIBRARY names another).
--
--   local rnnpack = require "rnnpack"
--   local model = rnnpack.open(bytes)                 -- what `rnnpack compile` wrote
--   local session = model:session { max_batch = 1 }
--   local x, y = rnnpack.floats(model.inputs[1].row_elems), rnnpack.floats(model.outputs[1].row_elems)
--   x.data[0] = 0.5
--   session:step(x, y)                                -- in place: nothing is copied, nothing becomes garbage
--
-- Errors are tables with code, name ("RNNP_E_SHAPE") and text; tostring gives the text. SPDX-License-Identifier: Apache-2.0
local ffi = require "ffi"
local bit = require "bit"

-- generated: begin
-- Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
ffi.cdef [[
static const int RNNP_OK = 0;
static const int RNNP_E_ARG = -1;
static const int RNNP_E_ALIGN = -2;
static const int RNNP_E_SMALL_MEMORY = -3;
static const int RNNP_E_BLOB_MAGIC = -4;
static const int RNNP_E_BLOB_VERSION = -5;
static const int RNNP_E_BLOB_CORRUPT = -6;
static const int RNNP_E_LAYOUT = -7;
static const int RNNP_E_ISA = -8;
static const int RNNP_E_STATE_MISMATCH = -9;
static const int RNNP_E_NOT_CAUSAL = -10;
static const int RNNP_E_UNSUPPORTED = -11;
static const int RNNP_E_SHAPE = -12;
static const int RNNP_E_ENDIAN = -13;
static const int RNNP_E_INDEX = -14;
static const int RNNP_E_INPUTS = -15;
static const int RNNP_E_DEVICE = -16;
static const int RNNP_E_TIMEOUT = -17;
static const int RNNP_E_BUSY = -18;
static const int RNNP_E_IMAGE_MISMATCH = -19;
static const int RNNP_E_EXECUTOR = -20;
static const int RNNP_E_NOT_FINITE = -21;
static const uint32_t RNNP_HEADER_VERSION = 10000;
static const uint32_t RNNP_BLOB_ALIGN = 64;
static const uint32_t RNNP_OPEN_CHECK_WEIGHTS = 1;
static const int32_t RNNP_MAX_RANK = 8;
static const int32_t RNNP_DIM_STEPS = -1;
static const int32_t RNNP_DIM_BATCH = -2;
static const uint32_t RNNP_SPINS_BEFORE_WAIT = 4096;
static const uint32_t RNNP_EXECUTOR_TRIES = 20000;
static const uint32_t RNNP_MAX_THREADS = 1024;
static const uint32_t RNNP_SESSION_PORTABLE_OPS = 1;
static const uint32_t RNNP_SESSION_ALL_THREADS = 2;
static const uint32_t RNNP_SESSION_ALL_XNNPACK = 4;
static const uint32_t RNNP_MAX_BATCH = 1048576;
static const uint32_t RNNP_MAX_CHUNK_STEPS = 1048576;
static const uint32_t RNNP_MAX_STEPS = 268435456;
static const uint32_t RNNP_ISA_AVX2 = 1;
static const uint32_t RNNP_ISA_AVX512 = 2;
static const uint32_t RNNP_ISA_NEON = 4;
static const uint32_t RNNP_ISA_RVV = 8;
static const uint32_t RNNP_ISA_SIMD128 = 16;
static const uint32_t RNNP_ISA_MVE = 32;
static const uint32_t RNNP_ISA_VFPV4 = 64;
static const uint32_t RNNP_ISA_RVF = 128;
static const uint32_t RNNP_ISA_AVX512_VNNI = 256;
static const uint32_t RNNP_ISA_NEON_DOTPROD = 512;
static const uint32_t RNNP_ISA_AVX_VNNI = 1024;
static const uint32_t RNNP_ISA_NEON_I8MM = 2048;
static const uint32_t RNNP_ISA_AMX_INT8 = 4096;
static const uint32_t RNNP_ISA_AVX512_BF16 = 8192;
static const uint32_t RNNP_ISA_AMX_BF16 = 16384;
static const uint32_t RNNP_ISA_NEON_BF16 = 32768;
static const uint32_t RNNP_ISA_REFERENCE_ONLY = 2147483648;
static const uint32_t RNNP_CACHE_NONE = 4294967295;
static const uint32_t RNNP_NO_NODE = 4294967295;
static const uint32_t RNNP_RUN_LAST_STEP = 1;
static const uint32_t RNNP_RUN_CHECK_FINITE = 2;
static const uint32_t RNNP_ALL_ROWS = 4294967295;
static const uint32_t RNNP_ROLE_SEQUENCE = 0;
static const uint32_t RNNP_ROLE_PER_RUN = 1;
static const uint32_t RNNP_ROLE_STATE = 2;
static const uint32_t RNNP_ROLE_LENGTHS = 3;
static const uint32_t RNNP_DTYPE_F32 = 0;
static const uint32_t RNNP_DTYPE_I32 = 1;
typedef int32_t rnnp_status;
typedef struct rnnp_session rnnp_session;
typedef struct rnnp_model { uint64_t opaque_[32]; } rnnp_model;
typedef struct rnnp_model_info { uint32_t struct_bytes; uint32_t blob_version; uint32_t blob_align; uint32_t input_count; uint32_t output_count; uint32_t node_count; uint32_t recurrent_count; uint32_t causal; uint32_t fixed_batch; uint32_t layout_nr; uint32_t stream_steps; uint32_t in_place; uint64_t blob_bytes; uint64_t weight_bytes; uint64_t state_bytes_per_row; uint64_t model_id; uint64_t macs_per_step; } rnnp_model_info;
typedef struct rnnp_tensor_info { uint32_t struct_bytes; uint32_t role; uint32_t row_elems; uint32_t rank; int32_t dims[8]; const char *name; uint32_t dtype; uint32_t limit; } rnnp_tensor_info;
typedef struct rnnp_executor { uint32_t struct_bytes; uint32_t threads; void *ctx; void (*parallel)(void *, void (*)(void *, uint32_t), void *); void (*wait)(void *, uint32_t); } rnnp_executor;
typedef struct rnnp_session_options { uint32_t struct_bytes; uint32_t max_batch; uint32_t max_steps; uint32_t chunk_steps; uint32_t isa_allowed; uint32_t flags; uint32_t l1d_bytes; uint32_t l2_bytes; uint32_t l3_bytes; const rnnp_executor *executor; } rnnp_session_options;
typedef struct rnnp_memory { uint32_t struct_bytes; uint32_t alignment; size_t session_bytes; size_t state_bytes; } rnnp_memory;
typedef struct rnnp_refusal { uint32_t struct_bytes; rnnp_status status; uint32_t node; uint32_t reserved; uint64_t needed; const char *node_name; const char *op; const char *reason; } rnnp_refusal;
typedef struct rnnp_session_info { uint32_t struct_bytes; uint32_t max_batch; uint32_t chunk_steps; uint32_t threads; uint32_t isa; uint32_t xnnpack; uint32_t xnnpack_refused; uint32_t wavefront_stages; uint32_t wavefront_steps; } rnnp_session_info;
typedef struct rnnp_const_buffer { const void *data; size_t step_stride_bytes; size_t row_stride_bytes; } rnnp_const_buffer;
typedef struct rnnp_buffer { void *data; size_t step_stride_bytes; size_t row_stride_bytes; } rnnp_buffer;
typedef struct rnnp_io { uint32_t struct_bytes; uint32_t buffer_bytes; uint32_t flags; uint32_t batch; size_t steps; uint32_t input_count; uint32_t output_count; const int32_t *lengths; const rnnp_const_buffer *inputs; const rnnp_buffer *outputs; const uint32_t *rows; } rnnp_io;
uint32_t rnnp_version(void);
uint32_t rnnp_blob_version_min(void);
uint32_t rnnp_blob_version_max(void);
const char *rnnp_status_string(rnnp_status status);
rnnp_status rnnp_model_open(rnnp_model *model, const void *blob, size_t bytes, uint32_t flags);
rnnp_status rnnp_model_get_info(const rnnp_model *model, rnnp_model_info *facts);
rnnp_status rnnp_model_get_input(const rnnp_model *model, uint32_t index, rnnp_tensor_info *facts);
rnnp_status rnnp_model_get_output(const rnnp_model *model, uint32_t index, rnnp_tensor_info *facts);
rnnp_status rnnp_model_find_input(const rnnp_model *model, const char *name, uint32_t *index);
rnnp_status rnnp_model_find_output(const rnnp_model *model, const char *name, uint32_t *index);
const char *rnnp_model_meta(const rnnp_model *model, const char *key);
rnnp_status rnnp_model_get_meta(const rnnp_model *model, uint32_t index, const char **key, const char **value);
const char *rnnp_isa_name(uint32_t bit);
void rnnp_session_options_init(rnnp_session_options *options, size_t struct_bytes);
rnnp_status rnnp_session_memory(const rnnp_model *model, const rnnp_session_options *options, rnnp_memory *memory);
rnnp_status rnnp_session_init(rnnp_session **session, const rnnp_model *model, const rnnp_session_options *options, void *mem, size_t bytes);
rnnp_status rnnp_session_explain(const rnnp_model *model, const rnnp_session_options *options, void *scratch, size_t bytes, rnnp_refusal *refusal);
rnnp_status rnnp_session_get_info(const rnnp_session *session, rnnp_session_info *facts);
rnnp_status rnnp_run(rnnp_session *session, size_t steps, const void *x, void *y);
rnnp_status rnnp_step(rnnp_session *session, const void *x, void *y);
rnnp_status rnnp_run_io(rnnp_session *session, const rnnp_io *io);
const char *rnnp_session_last_error(const rnnp_session *session);
rnnp_status rnnp_state_reset(rnnp_session *session, uint32_t row);
rnnp_status rnnp_state_save(const rnnp_session *session, uint32_t row, void *dst, size_t bytes);
rnnp_status rnnp_state_load(rnnp_session *session, uint32_t row, const void *src, size_t bytes);
rnnp_status rnnp_threads_start(rnnp_executor *executor, uint32_t threads, const int32_t *cpu_ids, void *mem, size_t bytes);
void rnnp_threads_stop(rnnp_executor *executor);
]]

local status_names = {
  [0] = "RNNP_OK",
  [-1] = "RNNP_E_ARG",
  [-2] = "RNNP_E_ALIGN",
  [-3] = "RNNP_E_SMALL_MEMORY",
  [-4] = "RNNP_E_BLOB_MAGIC",
  [-5] = "RNNP_E_BLOB_VERSION",
  [-6] = "RNNP_E_BLOB_CORRUPT",
  [-7] = "RNNP_E_LAYOUT",
  [-8] = "RNNP_E_ISA",
  [-9] = "RNNP_E_STATE_MISMATCH",
  [-10] = "RNNP_E_NOT_CAUSAL",
  [-11] = "RNNP_E_UNSUPPORTED",
  [-12] = "RNNP_E_SHAPE",
  [-13] = "RNNP_E_ENDIAN",
  [-14] = "RNNP_E_INDEX",
  [-15] = "RNNP_E_INPUTS",
  [-16] = "RNNP_E_DEVICE",
  [-17] = "RNNP_E_TIMEOUT",
  [-18] = "RNNP_E_BUSY",
  [-19] = "RNNP_E_IMAGE_MISMATCH",
  [-20] = "RNNP_E_EXECUTOR",
  [-21] = "RNNP_E_NOT_FINITE",
}

-- type: the bytes of its struct where pointers have 64 bits, and where they have 32
local sizes = {
  rnnp_model = { 256, 256 },
  rnnp_model_info = { 88, 88 },
  rnnp_tensor_info = { 64, 60 },
  rnnp_executor = { 32, 20 },
  rnnp_session_options = { 48, 40 },
  rnnp_memory = { 24, 16 },
  rnnp_refusal = { 48, 36 },
  rnnp_session_info = { 36, 36 },
  rnnp_const_buffer = { 24, 12 },
  rnnp_buffer = { 24, 12 },
  rnnp_io = { 64, 44 },
}
-- generated: end

for name, size in pairs(sizes) do
  assert(ffi.sizeof(name) == size[ffi.abi("64bit") and 1 or 2], name)
end
ffi.cdef [[
void *malloc(size_t);
void free(void *);
typedef struct { size_t count; float data[?]; } rnnpack_floats;
typedef struct { size_t count; int32_t data[?]; } rnnpack_ints;
]]
local C = ffi.load(os.getenv("RNNPACK_LIBRARY") or "rnnpack")
local Floats, Ints = ffi.typeof("rnnpack_floats"), ffi.typeof("rnnpack_ints")
local E_SHAPE, E_STATE = C.RNNP_E_SHAPE, C.RNNP_E_STATE_MISMATCH
local rnnpack = { ALL_ROWS = C.RNNP_ALL_ROWS, RUN_LAST_STEP = C.RNNP_RUN_LAST_STEP, RUN_CHECK_FINITE = C.RNNP_RUN_CHECK_FINITE,
                  ISA_REFERENCE_ONLY = C.RNNP_ISA_REFERENCE_ONLY, status_names = status_names }

-- --- Errors ----------------------------------------------------------------------------------------------------------------

local Status = { __tostring = function(status) return "rnnpack: " .. status.text end }

--- The error of a status.
function rnnpack.status(code, text)
  return setmetatable({ code = code, name = status_names[code], text = text or ffi.string(C.rnnp_status_string(code)) }, Status)
end

local function fail(code, text)
  error(rnnpack.status(code, text), 2)
end

local function check(code)
  if code ~= 0 then fail(code) end
end

-- --- Memory ----------------------------------------------------------------------------------------------------------------

local function array(make, from)
  local count = type(from) == "table" and #from or from
  local made = make(count, count)
  if count ~= from then
    for i = 1, count do made.data[i - 1] = from[i] end
  end
  return made
end

--- Floats for inputs and outputs: `data[0]` is the first of `count`. From a number: zeros; from a table: its numbers.
function rnnpack.floats(from)
  return array(Floats, from)
end

--- The same of 32-bit integers: indices and lengths.
function rnnpack.ints(from)
  return array(Ints, from)
end

-- Memory at a multiple of an alignment: what frees it, and its address.
local function take(bytes, alignment)
  local block = ffi.C.malloc(bytes + alignment)
  if block == nil then error("rnnpack: no memory", 2) end
  local at = ffi.cast("uint8_t *", block)
  local past = tonumber(bit.band(ffi.cast("uintptr_t", at), alignment - 1))
  return ffi.gc(block, ffi.C.free), past == 0 and at or at + (alignment - past)
end

local function give(block)
  if block then ffi.C.free(ffi.gc(block, nil)) end
end

-- The blob belongs to its model and to all sessions on it; the last one frees it.
local function release(blob)
  blob.users = blob.users - 1
  if blob.users == 0 then
    give(blob.block)
    blob.block = nil
  end
end

-- --- Model -----------------------------------------------------------------------------------------------------------------

local Model, Session = {}, {}
Model.__index, Session.__index = Model, Session
local roles = { [0] = "sequence", "per_run", "state", "lengths" }

local function tensors(raw, count, get)
  local all = {}
  for i = 1, count do
    local facts = ffi.new("rnnp_tensor_info", { struct_bytes = ffi.sizeof("rnnp_tensor_info") })
    check(get(raw, i - 1, facts))
    local dims = {}
    for k = 1, facts.rank do dims[k] = facts.dims[k - 1] end
    all[i] = { name = ffi.string(facts.name), role = roles[facts.role], row_elems = facts.row_elems, dims = dims, limit = facts.limit,
               is_int = facts.dtype == C.RNNP_DTYPE_I32 or facts.role == C.RNNP_ROLE_LENGTHS, optional = facts.role >= C.RNNP_ROLE_STATE }
  end
  return all
end

--- A model from the bytes of a blob, which are copied once. check_weights: its checksum, too.
function rnnpack.open(bytes, check_weights)
  local block, at = take(#bytes, C.RNNP_BLOB_ALIGN)
  ffi.copy(at, bytes, #bytes)
  local raw = ffi.new("rnnp_model")
  local code = C.rnnp_model_open(raw, at, #bytes, check_weights and C.RNNP_OPEN_CHECK_WEIGHTS or 0)
  local info = ffi.new("rnnp_model_info", { struct_bytes = ffi.sizeof("rnnp_model_info") })
  if code == 0 then code = C.rnnp_model_get_info(raw, info) end
  if code ~= 0 then
    give(block)
    fail(code)
  end
  return setmetatable({ raw = raw, blob = { block = block, users = 1 }, info = info, causal = info.causal ~= 0, fixed_batch = info.fixed_batch,
                        inputs = tensors(raw, info.input_count, C.rnnp_model_get_input),
                        outputs = tensors(raw, info.output_count, C.rnnp_model_get_output) }, Model)
end

--- The same of a file.
function rnnpack.open_file(path, check_weights)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("*a")
  file:close()
  return rnnpack.open(bytes, check_weights)
end

function rnnpack.version()
  return C.rnnp_version()
end

local function opened(model)
  if not model.raw then error("rnnpack: the model is closed", 3) end
  return model.raw
end

--- What the model says of itself for a key, or nil.
function Model:meta(key)
  local text = C.rnnp_model_meta(opened(self), key)
  return text ~= nil and ffi.string(text) or nil
end

--- Elements of a tensor in a run.
function Model.elems(tensor, steps, batch)
  return (tensor.role == "sequence" and steps or 1) * batch * (tensor.role == "lengths" and 1 or tensor.row_elems)
end

--- Sessions that are open go on.
function Model:close()
  if self.raw then
    self.raw = nil
    release(self.blob)
  end
end

-- --- Session ---------------------------------------------------------------------------------------------------------------

-- The reason in words where there is one.
local function refusal(model, options, code)
  local why = ffi.new("rnnp_refusal", { struct_bytes = ffi.sizeof("rnnp_refusal") })
  if C.rnnp_session_explain(model, options, nil, 0, why) == code and why.reason ~= nil then return ffi.string(why.reason) end
end

--- A session: max_batch, max_steps, chunk_steps, isa_allowed, flags as in rnnp_session_options.
function Model:session(wanted)
  local raw, options = opened(self), ffi.new("rnnp_session_options")
  C.rnnp_session_options_init(options, ffi.sizeof(options))
  if self.fixed_batch ~= 0 then options.max_batch = self.fixed_batch end
  for key, value in pairs(wanted or {}) do options[key] = value end
  local need = ffi.new("rnnp_memory", { struct_bytes = ffi.sizeof("rnnp_memory") })
  local code = C.rnnp_session_memory(raw, options, need)
  local block, at
  local handle = ffi.new("rnnp_session *[1]")
  if code == 0 then
    block, at = take(tonumber(need.session_bytes), need.alignment)
    code = C.rnnp_session_init(handle, raw, options, at, need.session_bytes)
  end
  if code ~= 0 then
    give(block)
    fail(code, refusal(raw, options, code))
  end
  self.blob.users = self.blob.users + 1
  local x, y = 0, self.outputs[1]
  for _, tensor in ipairs(self.inputs) do
    if x == 0 and tensor.role == "sequence" and not tensor.is_int then x = tensor.row_elems * options.max_batch end
  end
  return setmetatable({ handle = handle[0], block = block, blob = self.blob, model = self, max_batch = options.max_batch, x_elems = x,
                        y_elems = y and y.row_elems * options.max_batch or 0, y_per_step = y and y.role == "sequence",
                        state_bytes = tonumber(need.state_bytes) }, Session)
end

local function live(session)
  return session.handle or error("rnnpack: the session is closed", 3)
end

local function fits(buffer, at, count)
  return ffi.istype(Floats, buffer) and at >= 0 and at + count <= tonumber(buffer.count)
end

--- One step of all rows: floats x from x_at on, y from y_at on (0 where left out).
function Session:step(x, y, x_at, y_at)
  x_at, y_at = x_at or 0, y_at or 0
  if not (fits(x, x_at, self.x_elems) and fits(y, y_at, self.y_elems)) then fail(E_SHAPE) end
  check(C.rnnp_step(live(self), x.data + x_at, y.data + y_at))
end

--- Steps of all rows, [steps][max_batch][row_elems].
function Session:run(steps, x, y, x_at, y_at)
  x_at, y_at = x_at or 0, y_at or 0
  if not (steps >= 0 and fits(x, x_at, steps * self.x_elems) and fits(y, y_at, (self.y_per_step and steps or 1) * self.y_elems)) then fail(E_SHAPE) end
  check(C.rnnp_run(live(self), steps, x.data + x_at, y.data + y_at))
end

local function place(buffers, all, given, steps, batch)
  for i, tensor in ipairs(all) do
    local one = given[i]
    if one then
      local right = ffi.istype(tensor.is_int and Ints or Floats, one) and tonumber(one.count) == Model.elems(tensor, steps, batch)
      if not right then fail(E_SHAPE) end
      buffers[i - 1].data = one.data
    end
  end
  return buffers
end

--- Any inputs and outputs: steps, batch, flags, inputs and outputs in the model's order (false leaves one out), lengths, rows.
function Session:run_io(io)
  local handle, model = live(self), self.model
  local steps, batch = io.steps, io.batch or self.max_batch
  local inputs, outputs = ffi.new("rnnp_const_buffer[?]", #model.inputs + 1), ffi.new("rnnp_buffer[?]", #model.outputs + 1)
  if steps < 0 or batch < 0 or batch > self.max_batch then fail(E_SHAPE) end
  place(inputs, model.inputs, io.inputs, steps, batch)
  place(outputs, model.outputs, io.outputs, bit.band(io.flags or 0, C.RNNP_RUN_LAST_STEP) ~= 0 and 1 or steps, batch)
  local raw = ffi.new("rnnp_io", { struct_bytes = ffi.sizeof("rnnp_io"), buffer_bytes = ffi.sizeof("rnnp_buffer"), flags = io.flags or 0, batch = batch,
                                   steps = steps, input_count = #model.inputs, output_count = #model.outputs, inputs = inputs, outputs = outputs })
  for _, name in ipairs { "lengths", "rows" } do
    local one = io[name]
    if one then
      if not ffi.istype(Ints, one) or tonumber(one.count) ~= batch then fail(E_SHAPE) end
      raw[name] = ffi.cast(name == "rows" and "uint32_t *" or "int32_t *", one.data)
    end
  end
  check(C.rnnp_run_io(handle, raw))
end

--- Why the last run failed; "" after a success.
function Session:last_error()
  return ffi.string(C.rnnp_session_last_error(live(self)))
end

--- The name of the instruction set in use.
function Session:isa()
  local info = ffi.new("rnnp_session_info", { struct_bytes = ffi.sizeof("rnnp_session_info") })
  check(C.rnnp_session_get_info(live(self), info))
  return ffi.string(C.rnnp_isa_name(info.isa))
end

--- A row, or rnnpack.ALL_ROWS, back into the initial state.
function Session:reset(row)
  check(C.rnnp_state_reset(live(self), row or C.RNNP_ALL_ROWS))
end

--- A row's state as a string, which a session of the same model loads in any language.
function Session:save_state(row)
  local state = ffi.new("uint8_t[?]", self.state_bytes + 1)
  check(C.rnnp_state_save(live(self), row or 0, state, self.state_bytes))
  return ffi.string(state, self.state_bytes)
end

function Session:load_state(row, state)
  if type(state) ~= "string" or #state == 0 then fail(E_STATE) end
  check(C.rnnp_state_load(live(self), row, state, #state))
end

function Session:close()
  if self.handle then
    self.handle = nil
    give(self.block)
    self.block = nil
    release(self.blob)
  end
end

return rnnpack
