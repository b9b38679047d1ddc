// session.js -- a running instance: its states, and the tensors of a call, which lie in the module's memory and are shown as typed
// arrays. step() and run() copy nothing and allocate nothing but views of rows and lengths. SPDX-License-Identifier: Apache-2.0
import { constants, layouts, Status } from './abi.js';
import { errorOf, StaleError } from './errors.js';
import { forgotten } from './model.js';

const ISA = { all: 0, reference: constants.ISA_REFERENCE_ONLY };
const [STEPS, BATCH, FLAGS, ROWS, LENGTHS] = ['steps', 'batch', 'flags', 'rows', 'lengths'].map((member) => layouts.rnnp_io[member] / 4);

const DEFAULTS = Object.freeze({}); // made once: a run makes no garbage

function count(value, name, most = 0xffffffff) {
  if (!Number.isInteger(value) || value < 0 || value > most) throw errorOf(Status.E_SHAPE, `${name} is ${value}: an integer from 0 to ${most} is needed`);
  return value;
}

export class Session {
  #module;
  #model;
  #blob;
  #blocks = [];
  #options;
  #handle = 0;
  #io = 0;
  #words = new Uint32Array(0); // of rnnp_io; empty when the memory grew
  #tables = [0, 0];
  #tensors; // [inputs, outputs]: { at, elems, given, Kind }
  #views = []; // that were asked for since the memory grew last
  #growths = -1; // as it was when they were
  #simple; // rnnp_step and rnnp_run do
  #x = 0;
  #y = 0;
  #stepCall;
  #room;
  #stateBytes = 0;
  #batch;
  #closed = false;

  // maxBatch: rows. maxSteps: the longest run; 1 unless given. isa: 'all' or 'reference'. chunkSteps: 0 lets the library choose.
  constructor(module, blob, model, { maxBatch = model.info.fixedBatch || 1, maxSteps = 1, chunkSteps = 0, isa = 'all' } = {}) {
    if (ISA[isa] === undefined) throw errorOf(Status.E_ARG, `isa is '${isa}': 'all' or 'reference' is needed`);
    this.#module = module;
    this.#model = model;
    this.#blob = blob;
    this.#batch = count(maxBatch, 'maxBatch');
    this.#room = count(maxSteps, 'maxSteps', 1 << 28);
    blob.retain();
    try {
      this.#make(chunkSteps, ISA[isa]);
      this.#makeTensors();
    } catch (error) {
      this.#release();
      throw error;
    }
    const blocks = this.#blocks;
    forgotten?.register(this, () => { blocks.forEach((at) => module.heap.free(at)); blob.release(); }, this);
  }

  get model() { return this.#model; }
  get maxBatch() { return this.#batch; }
  get maxSteps() { return this.#room; }
  get stateBytes() { return this.#stateBytes; }
  get closed() { return this.#closed; }

  // The memory of an input or output as Float32Array or Int32Array, [maxSteps][maxBatch][rowElems] or [maxBatch][rowElems]. Valid until
  // a model or session is opened that needs more memory; a step with views from before throws.
  input(which = 0) { return this.#view(0, which); }
  output(which = 0) { return this.#view(1, which); }

  // Optional inputs (roles state and lengths) are left out of runs until they are provided.
  provide(which, on = true) {
    this.#check();
    this.#tensors[0][this.#find(0, which)].given = Boolean(on);
    this.#bind();
  }

  // One step of all rows: reads input(), writes output(). With arrays of your own, which are copied: they have one step's elements.
  step(x, y) {
    if (x !== undefined) this.#fit(x, 0).set(x);
    if (y !== undefined) this.#fit(y, 1);
    if (this.#closed || (this.#growths !== this.#module.heap.growths && this.#views.length > 0)) this.#check();
    const status = this.#simple ? this.#stepCall(this.#handle, this.#x, this.#y) : this.#runIo(1, this.#batch, 0, 0, 0);
    if (status !== 0) this.#fail(status, 'step');
    if (y !== undefined) y.set(this.#fit(y, 1));
  }

  // `steps` steps from the start of input(). rows and lengths: of the rows that run, as arrays; lastStep, checkFinite: RNNP_RUN_*.
  run(steps, options = DEFAULTS) {
    this.#check();
    const { rows, lengths, batch = rows?.length ?? this.#batch, lastStep = false, checkFinite = false } = options;
    count(steps, 'steps', this.#room);
    count(batch, 'batch', this.#batch);
    if ((rows && rows.length !== batch) || (lengths && lengths.length !== batch)) throw errorOf(Status.E_SHAPE, 'rows and lengths have one number per row');
    const rowsAt = this.#tables[2], lengthsAt = this.#tables[3];
    if (rows) new Uint32Array(this.#module.heap.buffer, rowsAt, batch).set(rows);
    if (lengths) new Int32Array(this.#module.heap.buffer, lengthsAt, batch).set(lengths);
    const flags = (lastStep ? constants.RUN_LAST_STEP : 0) | (checkFinite ? constants.RUN_CHECK_FINITE : 0);
    const status = this.#runIo(steps, batch, flags, rows ? rowsAt : 0, lengths ? lengthsAt : 0);
    if (status !== 0) this.#fail(status, 'run');
  }

  // Back to the initial state: one row, or all.
  reset(row = constants.ALL_ROWS) {
    this.#check();
    this.#module.check(this.#module.call.rnnp_state_reset(this.#handle, row), 'reset');
  }
  // A row's state, as bytes that any session on the same model loads, in any language.
  saveState(row = 0) {
    this.#check();
    return this.#withBytes(this.#stateBytes, (at, bytes) => {
      this.#module.check(this.#module.call.rnnp_state_save(this.#handle, row, at, this.#stateBytes), 'saveState');
      return bytes().slice();
    });
  }
  loadState(saved, row = 0) {
    this.#check();
    this.#withBytes(saved.length, (at, bytes) => {
      bytes().set(saved);
      this.#module.check(this.#module.call.rnnp_state_load(this.#handle, row, at, saved.length), 'loadState');
    });
  }

  // What was decided when the session was made.
  get info() {
    this.#check();
    const module = this.#module, name = 'rnnp_session_info';
    return module.withStruct(name, (at) => {
      module.check(module.call.rnnp_session_get_info(this.#handle, at), 'session info');
      const isa = module.get(name, at, 'isa');
      return { maxBatch: module.get(name, at, 'max_batch'), chunkSteps: module.get(name, at, 'chunk_steps'), isa: module.text(module.call.rnnp_isa_name(isa)) };
    });
  }

  close() {
    if (this.#closed) return;
    forgotten?.unregister(this);
    this.#release();
  }

  #release() {
    this.#closed = true;
    for (const at of this.#blocks) this.#module.heap.free(at);
    this.#blocks.length = 0;
    this.#blob.release();
  }

  // Keeps the views' promise: what was written into a detached one would be lost.
  #check() {
    if (this.#closed) throw new StaleError('the session is closed');
    if (this.#growths !== this.#module.heap.growths && this.#views.length > 0) {
      this.#views = [];
      throw new StaleError('the memory has grown since input() and output() were asked for: ask again, and write the inputs again');
    }
  }

  #take(bytes, align) {
    const at = this.#module.take(bytes, align);
    this.#blocks.push(at);
    return at;
  }

  #make(chunkSteps, isa) {
    const module = this.#module, { handle: model } = this.#blob;
    module.withStruct('rnnp_session_options', (options) => {
      const name = 'rnnp_session_options';
      module.call.rnnp_session_options_init(options, layouts[name].bytes);
      const steps = this.#model.info.causal ? 0 : this.#room;
      Object.entries({ max_batch: this.#batch, max_steps: steps, chunk_steps: count(chunkSteps, 'chunkSteps'), isa_allowed: isa })
        .forEach(([member, value]) => module.set(name, options, member, value));
      const need = module.withStruct('rnnp_memory', (at) => {
        this.#accept(module.call.rnnp_session_memory(model, options, at), options);
        this.#stateBytes = module.get('rnnp_memory', at, 'state_bytes');
        return [module.get('rnnp_memory', at, 'session_bytes'), module.get('rnnp_memory', at, 'alignment')];
      });
      const memory = this.#take(...need), handle = this.#take(4);
      this.#accept(module.call.rnnp_session_init(handle, model, options, memory, need[0]), options);
      this.#handle = module.view.getUint32(handle, true);
    });
  }

  // A refusal, with the node that is refused.
  #accept(status, options) {
    if (status === 0) return;
    const module = this.#module, name = 'rnnp_refusal';
    module.withStruct(name, (at) => {
      const explained = module.call.rnnp_session_explain(this.#blob.handle, options, 0, 0, at) === status;
      const of = (member) => (explained ? module.text(module.get(name, at, member)) : '');
      const node = of('node_name') || of('op') ? ` (node '${of('node_name')}', ${of('op')})` : '';
      module.check(status, 'session', explained ? of('reason') + node : '');
    });
  }

  #makeTensors() {
    const tensor = (info) => {
      const elems = info.rowElems * this.#batch * (info.role === 'sequence' ? this.#room : 1);
      return { at: this.#take(4 * elems), elems, given: info.role === 'sequence' || info.role === 'perRun',
        Kind: info.dtype === 'f32' && info.role !== 'lengths' ? Float32Array : Int32Array };
    };
    const { inputs, outputs } = this.#model;
    this.#tensors = [inputs.map(tensor), outputs.map(tensor)];
    this.#io = this.#take(layouts.rnnp_io.bytes);
    const buffer = layouts.rnnp_const_buffer.bytes;
    this.#tables = [inputs.length * buffer, outputs.length * buffer, 4 * this.#batch, 4 * this.#batch].map((bytes) => this.#take(bytes));
    for (const { at, elems } of this.#tensors.flat()) new Uint8Array(this.#module.heap.buffer, at, 4 * elems).fill(0);
    this.#bind();
  }

  // The tables of rnnp_io, and whether the two short calls do.
  #bind() {
    const module = this.#module, { view } = module, buffer = layouts.rnnp_const_buffer.bytes, io = layouts.rnnp_io;
    this.#tensors.forEach((list, side) => list.forEach(({ at, given }, i) => {
      for (const [k, value] of [given || side === 1 ? at : 0, 0, 0].entries()) view.setUint32(this.#tables[side] + i * buffer + 4 * k, value, true);
    }));
    new Uint8Array(module.heap.buffer, this.#io, io.bytes).fill(0);
    const [inputs, outputs] = this.#tensors;
    Object.entries({ struct_bytes: io.bytes, buffer_bytes: buffer, input_count: inputs.length, output_count: outputs.length,
      inputs: this.#tables[0], outputs: this.#tables[1] }).forEach(([member, value]) => module.set('rnnp_io', this.#io, member, value));
    const needed = inputs.filter(({ given }) => given);
    this.#simple = needed.length === 1 && outputs.length === 1 && this.#model.inputs[inputs.indexOf(needed[0])].role === 'sequence';
    [this.#x, this.#y] = [needed[0]?.at ?? 0, outputs[0]?.at ?? 0];
    this.#stepCall = module.call.rnnp_step;
  }

  #runIo(steps, batch, flags, rows, lengths) {
    if (this.#words.length === 0) this.#words = new Uint32Array(this.#module.heap.buffer, this.#io, layouts.rnnp_io.bytes / 4);
    const words = this.#words;
    words[STEPS] = steps;
    words[BATCH] = batch;
    words[FLAGS] = flags;
    words[ROWS] = rows;
    words[LENGTHS] = lengths;
    return this.#module.call.rnnp_run_io(this.#handle, this.#io);
  }

  #fail(status, doing) {
    const module = this.#module;
    module.check(status, doing, module.text(module.call.rnnp_session_last_error(this.#handle)));
  }

  #find(side, which) {
    const list = side === 0 ? this.#model.inputs : this.#model.outputs;
    const index = typeof which === 'string' ? list.findIndex(({ name }) => name === which) : which;
    if (list[index] === undefined) throw errorOf(Status.E_ARG, `the model has no ${side === 0 ? 'input' : 'output'} ${which}`);
    return index;
  }

  #view(side, which) {
    if (this.#closed) throw new StaleError('the session is closed');
    const index = this.#find(side, which), { at, elems, Kind } = this.#tensors[side][index];
    if (this.#growths !== this.#module.heap.growths) [this.#growths, this.#views] = [this.#module.heap.growths, []];
    const key = 2 * index + side;
    return (this.#views[key] ??= new Kind(this.#module.heap.buffer, at, elems));
  }

  // The step's elements of the first input or output, of which an array must have as many.
  #fit(array, side) {
    const elems = (side === 0 ? this.#model.inputs : this.#model.outputs)[0].rowElems * this.#batch;
    if (array.length !== elems) throw errorOf(Status.E_SHAPE, `step: ${array.length} elements, ${elems} are one step`);
    const view = this.#view(side, 0);
    return view.length === elems ? view : view.subarray(0, elems);
  }

  #withBytes(length, use) {
    const at = this.#module.take(length);
    try {
      return use(at, () => new Uint8Array(this.#module.heap.buffer, at, length));
    } finally {
      this.#module.heap.free(at);
    }
  }
}
if (Symbol.dispose !== undefined) Session.prototype[Symbol.dispose] = Session.prototype.close;
