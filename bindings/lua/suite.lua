-- suite.lua FOLDER -- bindings/suite.json in LuaJIT. SPDX-License-Identifier: Apache-2.0
local ffi = require "ffi"
local rnnpack = require "rnnpack"

ffi.cdef [[
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
typedef struct lua_State lua_State;
lua_State *luaL_newstate(void);
void luaL_openlibs(lua_State *);
int luaL_loadstring(lua_State *, const char *);
int lua_pcall(lua_State *, int, int, int);
const char *lua_tolstring(lua_State *, int, size_t *);
void lua_close(lua_State *);
typedef struct timespec { long sec, nsec; } timespec;
int clock_gettime(int, timespec *);
]]

local folder = arg[1]

local function bytes(name)
  local file = assert(io.open(folder .. "/" .. name, "rb"))
  local all = file:read("*a")
  file:close()
  return all
end

local function floats(name)
  local all = bytes(name)
  local made = rnnpack.floats(#all / 4)
  ffi.copy(made.data, all, #all)
  return made
end

local function open(name)
  return rnnpack.open(bytes(name), true)
end

local function session(model, max_batch, max_steps)
  return model:session { max_batch = max_batch or 1, max_steps = max_steps or 0, isa_allowed = rnnpack.ISA_REFERENCE_ONLY }
end

local function stream(one, x, from, to)
  local width, y = one.model.inputs[1].row_elems, rnnpack.floats(to - from)
  for i = from, to - 1 do one:step(x, y, i * width, i - from) end
  return y
end

local function same(a, b, at, count)
  local want = ffi.string(b.data + (at or 0), 4 * tonumber(count or a.count))
  assert(ffi.string(a.data, 4 * tonumber(a.count)) == want, "other bits")
end

local function fails(code, call, ...)
  local done, status = pcall(call, ...)
  assert(not done, "does not fail")
  assert(type(status) == "table" and status.code == code, "gives " .. tostring(status))
end

local function refuses(call, ...)
  local done, said = pcall(call, ...)
  assert(not done and tostring(said):find("closed"), "is not refused: " .. tostring(said))
end

-- state * 1664525 + 1013904223 mod 2^32, which a double cannot hold at once.
local function inputs(model, steps, batch, spoil)
  local all, state = {}, 1
  for i, tensor in ipairs(model.inputs) do
    all[i] = false
    if not tensor.optional then
      local count = model.elems(tensor, steps, batch)
      local one = tensor.is_int and rnnpack.ints(count) or rnnpack.floats(count)
      for k = 0, count - 1 do
        state = tonumber((1664525ULL * state + 1013904223ULL) % 4294967296ULL)
        local high = math.floor(state / 65536)
        one.data[k] = tensor.is_int and high % tensor.limit or high / 32768 - 1
      end
      if i == 1 and spoil == "nan" then one.data[0] = 0 / 0 end
      if i == 1 and spoil == "index" then one.data[0] = tensor.limit end
      all[i] = one
    end
  end
  return all
end

local function outputs(model, steps, batch)
  local all = {}
  for i, tensor in ipairs(model.outputs) do all[i] = rnnpack.floats(model.elems(tensor, steps, batch)) end
  return all
end

local function resident_kib()
  collectgarbage()
  for line in io.lines("/proc/self/status") do
    local kib = line:match("VmRSS:%s*(%d+)")
    if kib then return tonumber(kib) end
  end
end

-- A thread of the operating system has a Lua state of its own; the main function of each comes by its address.
local thread_code = [[
local ffi = require "ffi"
package.path, arg = %q, { [1] = %q, thread = true }
local work = loadfile(%q)(%q, %q, %q)
kept = ffi.cast("void *(*)(void *)", function() return ffi.cast("void *", work() and 1 or 0) end)
return string.format("%%d", tonumber(ffi.cast("intptr_t", ffi.cast("void *", kept))))
]]

local function in_threads(count, case)
  local states, ids = {}, ffi.new("pthread_t[?]", count)
  for i = 1, count do
    local L = ffi.C.luaL_newstate()
    ffi.C.luaL_openlibs(L)
    local code = thread_code:format(package.path, folder, arg[0], case.blob, case.input, case.output)
    assert(ffi.C.luaL_loadstring(L, code) == 0 and ffi.C.lua_pcall(L, 0, 1, 0) == 0, "no state")
    local entry = tonumber(ffi.string(ffi.C.lua_tolstring(L, -1, nil)))
    states[i] = L
    assert(ffi.C.pthread_create(ids + i - 1, nil, ffi.cast("void *(*)(void *)", entry), nil) == 0, "no thread")
  end
  for i = 1, count do
    local result = ffi.new("void *[1]")
    ffi.C.pthread_join(ids[i - 1], result)
    assert(result[0] ~= nil, "other bits")
    ffi.C.lua_close(states[i])
  end
end

if arg.thread then
  local blob, input, output = ...
  return function()
    local want = floats(output)
    return pcall(same, stream(session(open(blob)), floats(input), 0, tonumber(want.count)), want)
  end
end

-- --- The kinds of cases ----------------------------------------------------------------------------------------------------

local kinds = {}

function kinds.status(c)
  local status = rnnpack.status(tonumber(c.code))
  assert(status.name == c.constant and #status.text > 8 and status.text ~= rnnpack.status(-1000).text, "another name or text")
end

function kinds.stream(c)
  local want, labels = floats(c.output), bytes(c.labels)
  local y = stream(session(open(c.blob)), floats(c.input), 0, tonumber(want.count))
  same(y, want)
  local found, all = { 0, 0, [0] = 0 }, { 0, 0, [0] = 0 }
  for i = 1, #labels do
    local label = labels:byte(i)
    all[label] = all[label] + 1
    if y.data[i - 1] >= 0.5 then found[label] = found[label] + 1 end
  end
  local line = ("loud speech frames found %d of %d, speech said in the gaps %d of %d frames"):format(found[1], all[1], found[2], all[2])
  print(line)
  assert(line == bytes(c.line), "another line")
end

function kinds.golden(c)
  local steps, model, want, at = tonumber(c.steps), open(c.blob), floats(c.output), 0
  local batch = model.fixed_batch ~= 0 and model.fixed_batch or tonumber(c.batch)
  local y = outputs(model, steps, batch)
  session(model, batch, steps):run_io { steps = steps, batch = batch, inputs = inputs(model, steps, batch), outputs = y }
  for _, one in ipairs(y) do
    same(one, want, at)
    at = at + tonumber(one.count)
  end
  assert(at == tonumber(want.count), "another size")
end

function kinds.threads(c)
  in_threads(tonumber(c.count), c)
end

function kinds.state(c)
  local x, want, saved, at = floats(c.input), floats(c.output), bytes(c.state), tonumber(c.at)
  local loaded, streamed = session(open(c.blob)), session(open(c.blob))
  loaded:load_state(0, saved)
  same(stream(loaded, x, at, tonumber(want.count)), want, at)
  stream(streamed, x, 0, at)
  assert(streamed:save_state(0) == saved, "saves other bytes")
end

function kinds.load(c)
  local one = session(open(c.blob))
  fails(tonumber(c.status), one.load_state, one, 0, bytes(c.state))
  same(stream(one, floats(c.input), 0, 10), floats(c.output), 0)
end

function kinds.open(c)
  fails(tonumber(c.status), open, c.blob)
end

function kinds.session(c)
  fails(tonumber(c.status), session, open(c.blob), tonumber(c.max_batch), tonumber(c.max_steps))
end

function kinds.run(c)
  local model, steps, batch = open(c.blob), tonumber(c.steps), tonumber(c.batch)
  local one = session(model, tonumber(c.max_batch), steps)
  fails(tonumber(c.status), one.run_io, one, { steps = steps, batch = batch, flags = tonumber(c.flags), inputs = inputs(model, steps, batch, c.spoil),
                                               outputs = outputs(model, steps, batch) })
end

function kinds.growth(c)
  local blob, x, y, before = bytes(c.blob), rnnpack.floats(256), rnnpack.floats(1), 0
  for i = 1, tonumber(c.count) do
    local model = rnnpack.open(blob, true)
    local one = session(model)
    one:step(x, y)
    one:close()
    model:close()
    if i == c.count / 10 then before = resident_kib() end
  end
  local grown = resident_kib() - before
  assert(grown <= tonumber(c.limit_kib), "grew by " .. grown .. " KiB")
end

function kinds.misuse(c)
  local model, x, y = open(c.blob), floats(c.input), rnnpack.floats(1)
  local one = session(model)
  if c.what == "closed_session" then
    one:close()
    one:close()
    refuses(one.step, one, x, y)
    refuses(one.save_state, one, 0)
    one = session(model)
  elseif c.what == "closed_model" then
    model:close()
    refuses(model.session, model)
    refuses(model.meta, model, "name")
  elseif c.what == "short_input" then
    fails(-12, one.step, one, rnnpack.floats(255), y)
    fails(-12, one.step, one, { 0.5 }, y)
  elseif c.what == "short_output" then
    fails(-12, one.step, one, x, rnnpack.floats(0))
  else
    return "a Lua state has one thread, and a session belongs to one state"
  end
  one:step(x, y)
end

function kinds.compile()
  return "LuaJIT runs blobs; the tool makes them"
end

local function nanoseconds()
  local now = ffi.new("timespec")
  ffi.C.clock_gettime(1, now)
  return tonumber(now.sec) * 1e9 + tonumber(now.nsec)
end

function kinds.overhead(c)
  local one = open(c.blob):session()
  local x, y, least = rnnpack.floats(8), rnnpack.floats(16), 1e9
  for _ = 1, c.count / 1000 do
    local start = nanoseconds()
    for _ = 1, 1000 do one:step(x, y) end
    least = math.min(least, (nanoseconds() - start) / 1000)
  end
  print(("overhead %.1f"):format(least))
end

print("version " .. jit.version)
local failed = false
for line in io.lines(folder .. "/suite.txt") do
  local kind, name = line:match("^(%S+) (%S+)")
  local case = {}
  for key, value in line:gmatch("(%S+)=(%S+)") do case[key] = value end
  local done, why = pcall(kinds[kind], case)
  if done and why then
    print("na " .. name .. ": " .. why)
  else
    print(done and "ok " .. name or "FAILED " .. name .. ": " .. tostring(why))
  end
  failed = failed or not done
end
os.exit(failed and 1 or 0)
