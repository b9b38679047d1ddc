// model.js -- an opened blob: what it takes and gives, and its sessions. SPDX-License-Identifier: Apache-2.0
import { layouts } from './abi.js';
import { StaleError } from './errors.js';
import { Session } from './session.js';

const ROLES = ['sequence', 'perRun', 'state', 'lengths'];
const DIMS = { '-1': 'steps', '-2': 'batch' };

export const forgotten = typeof FinalizationRegistry === 'undefined' ? undefined : new FinalizationRegistry((free) => free());

function bytesOf(blob) {
  if (blob instanceof ArrayBuffer) return new Uint8Array(blob);
  if (ArrayBuffer.isView(blob)) return new Uint8Array(blob.buffer, blob.byteOffset, blob.byteLength);
  throw new TypeError('a blob is an ArrayBuffer or a typed array');
}

export class Model {
  #module;
  #shared; // what its sessions hold as well: { users, blob, handle }
  #closed = false;

  constructor(module, blob, checkWeights) {
    const bytes = bytesOf(blob);
    this.#module = module;
    const at = module.take(bytes.length);
    let handle = 0;
    try {
      handle = module.take(layouts.rnnp_model.bytes);
      new Uint8Array(module.heap.buffer, at, bytes.length).set(bytes);
      module.check(module.call.rnnp_model_open(handle, at, bytes.length, checkWeights ? 1 : 0), 'open');
    } catch (error) {
      module.heap.free(at);
      if (handle !== 0) module.heap.free(handle);
      throw error;
    }
    const shared = { users: 0, handle, retain() { ++this.users; }, release() {
      if (--this.users > 0) return;
      module.heap.free(at);
      module.heap.free(handle);
    } };
    shared.retain();
    this.#shared = shared;
    forgotten?.register(this, () => shared.release(), this);
    this.info = Object.freeze(this.#readInfo());
    this.inputs = Object.freeze(this.#readTensors('rnnp_model_get_input', this.info.inputCount));
    this.outputs = Object.freeze(this.#readTensors('rnnp_model_get_output', this.info.outputCount));
  }

  session(options = {}) {
    return new Session(this.#module, this.#open(), this, options);
  }
  // The text that the blob has for a key, or undefined.
  meta(key) {
    const { handle } = this.#open();
    return this.#module.withText(key, (text) => this.#module.text(this.#module.call.rnnp_model_meta(handle, text)));
  }
  // Sessions that are open keep the blob until they are closed, too.
  close() {
    if (this.#closed) return;
    this.#closed = true;
    forgotten?.unregister(this);
    this.#shared.release();
  }
  get closed() {
    return this.#closed;
  }

  #open() {
    if (this.#closed) throw new StaleError('the model is closed');
    return this.#shared;
  }

  #readInfo() {
    const module = this.#module, name = 'rnnp_model_info';
    return module.withStruct(name, (at) => {
      module.check(module.call.rnnp_model_get_info(this.#shared.handle, at), 'model info');
      const u32 = (member) => module.get(name, at, member), u64 = (member) => Number(module.get64(name, at, member));
      return {
        blobVersion: u32('blob_version'), inputCount: u32('input_count'), outputCount: u32('output_count'), nodeCount: u32('node_count'),
        recurrentCount: u32('recurrent_count'), causal: u32('causal') !== 0, fixedBatch: u32('fixed_batch'), layoutNr: u32('layout_nr'),
        streamSteps: u32('stream_steps'), inPlace: u32('in_place') !== 0, blobBytes: u64('blob_bytes'), weightBytes: u64('weight_bytes'),
        stateBytesPerRow: u64('state_bytes_per_row'), modelId: module.get64(name, at, 'model_id'), macsPerStep: u64('macs_per_step'),
      };
    });
  }

  #readTensors(getter, count) {
    const module = this.#module, name = 'rnnp_tensor_info', tensors = [];
    for (let i = 0; i < count; ++i) {
      tensors.push(module.withStruct(name, (at) => {
        module.check(module.call[getter](this.#shared.handle, i, at), 'tensor info');
        const u32 = (member) => module.get(name, at, member);
        const dims = Array.from({ length: u32('rank') }, (_, k) => module.view.getInt32(at + layouts[name].dims + 4 * k, true));
        return Object.freeze({
          name: module.text(u32('name')), role: ROLES[u32('role')], rowElems: u32('row_elems'), dims: dims.map((d) => DIMS[d] ?? d),
          dtype: u32('dtype') === 0 ? 'f32' : 'i32', limit: u32('limit'),
        });
      }));
    }
    return tensors;
  }
}
if (Symbol.dispose !== undefined) Model.prototype[Symbol.dispose] = Model.prototype.close;
